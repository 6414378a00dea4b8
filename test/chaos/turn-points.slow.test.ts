import { expect, test } from "vitest"
import { createOwnStopwatch } from "../support/own-stopwatch.ts"
import type { CrashPoint } from "../support/chaos/mortal-engine.ts"
import { withPatience } from "../support/patience.ts"
import { createRandom, isLong, requireNone, TEST_SEED, withSeed } from "../support/chaos/seed.ts"
import { describeTurnCrash, type TurnCrash } from "../support/chaos/turn-crash.ts"
import { createTurnHouse, type OpenHouse, type TurnHouse } from "../support/chaos/turn-house.ts"
import { findTurnViolations, type TurnExpectations } from "../support/chaos/turn-invariants.ts"
import { readStoredSession } from "../support/chaos/turn-record.ts"
import { createScenario, finishTurn, goOn, playTurn } from "../support/chaos/turn-scenario.ts"

const FILE = "test/chaos/turn-points.slow.test.ts"
/** The longest that the first test may take on a machine without other work; together with the kills of real programs, 45 s. */
const LONGEST_MS = 9_000
/** Parallel calls of every kind, some of which move to the background, followed by others. */
const SCENARIO = createScenario("points", [["look", "note", "build"], ["pay", "deploy", "look"], ["note"]])

test("whatever commit or effect of a turn a process dies at, the next one goes on with it and repeats nothing", async () => {
  const { first, last } = await countPoints()
  const kinds = ["commit", "effect"] as const
  const points = (["before", "after"] as const).flatMap((when) =>
    kinds.flatMap((at) => numbers(first[at] + 1, last[at]).map((number): CrashPoint => ({ at, number, when }))),
  )
  expect(points.length).toBeGreaterThanOrEqual(60)
  const stopwatch = createOwnStopwatch()
  for (const point of points) await withSeed(FILE, "whatever commit", TEST_SEED, () => playRound([point]))
  const tookMs = Math.round(stopwatch.elapsedMs())
  console.info(`${points.length} crash points of a turn took ${tookMs} ms`)
  expect(tookMs).toBeLessThan(LONGEST_MS)
})

test("what a process did after the last commit that it could save counts as in flight", async () => {
  const { first, last } = await countPoints()
  for (const number of numbers(first.commit + 1, last.commit)) {
    await withSeed(FILE, "could save", TEST_SEED, () => playRound([{ at: "unsaved", number }]))
  }
})

test("when the power fails, the disk knows everything that was done, except that a model was asked", async () => {
  const { first, last } = await countPoints()
  for (const number of numbers(first.commit + 1, last.commit)) {
    await withSeed(FILE, "power fails", TEST_SEED, () => playRound([{ at: "power", number }]))
  }
})

test("dying again while the turn is being continued is no different", async () => {
  const { first, last } = await countPoints()
  for (const round of numbers(1, isLong ? 3_000 : 10)) {
    const random = createRandom(TEST_SEED + 40_000 + round)
    const pick = (from: Count, to: Count): TurnCrash => {
      const at = random.pick<CrashPoint["at"]>(["commit", "commit", "effect"])
      if (at === "commit" && random.chance(0.3)) return { at: "unsaved", number: random.integer(from[at] + 1, to[at]) }
      return { at, number: random.integer(from[at] + 1, to[at]), when: random.pick(["before", "after"]) }
    }
    const later = numbers(1, random.integer(1, 3)).map(() => pick({ commit: 0, effect: 0 }, { commit: 20, effect: 8 }))
    const points = [pick(first, last), ...later]
    await withSeed(FILE, "dying again", TEST_SEED + 40_000 + round, () => playRound(points))
  }
})

interface Count {
  readonly commit: number
  readonly effect: number
}

/** Counts commits and effects before the turn, and once the turn and everything that it started have ended. */
async function countPoints(): Promise<{ first: Count; last: Count }> {
  const house = createTurnHouse()
  try {
    const { life, opened } = await house.begin()
    const open = await opened
    const first = { commit: life.commits, effect: life.effects }
    await wait(house, playTurn(open, SCENARIO), "no crash")
    return { first, last: { commit: life.commits, effect: life.effects } }
  } finally {
    await house.remove()
  }
}

/** One life for each crash point, then one without a crash. */
async function playRound(points: readonly TurnCrash[]): Promise<void> {
  const house = createTurnHouse()
  const name = points.map(describeTurnCrash).join(", then ")
  const unsaved = points.filter(({ at }) => at === "unsaved" || at === "power").length
  let answers = 0
  let crashes = 0
  try {
    for (const [index, point] of points.entries()) {
      const { life, opened } = await house.begin(point)
      const work = opened.then((open) =>
        index === 0 ? playTurn(open, SCENARIO) : finishTurn(open.runtime, () => (answers += 1)),
      )
      await wait(house, Promise.race([work, life.over]), `${name} (life ${life.number})`)
      life.end()
      crashes += 1
    }
    const { opened } = await house.begin()
    const open = await opened
    await wait(
      house,
      finishTurn(open.runtime, () => (answers += 1)),
      name,
    )
    requireNone((await check(house, open, { crashes, answers, unsaved })).map((violation) => `${name}: ${violation}`))
    await open.runtime.close()
  } finally {
    await house.remove()
  }
}

async function check(
  house: TurnHouse,
  open: OpenHouse,
  counted: Pick<TurnExpectations, "crashes" | "answers" | "unsaved">,
): Promise<readonly string[]> {
  const { store } = open
  if (!(await readStoredSession(store, SCENARIO.session))) {
    const done = house.effects.filter((effect) => !effect.startsWith("asked ") || counted.unsaved === 0)
    return done.length === 0 ? [] : [`${done.join(", ")} happened in a turn that nobody knows`]
  }
  await goOn(open, SCENARIO)
  const effects = [...house.effects]
  const leases = await store.leases("worker:")
  return [
    ...(await findTurnViolations(store, { ...SCENARIO, ...counted, effects })),
    ...(leases.length === 1 ? [] : [`${leases.length} workers are registered, one lives`]),
  ].map((violation) => `${violation}\n  ${effects.join("\n  ")}`)
}

function wait<Result>(house: TurnHouse, work: Promise<Result>, name: string): Promise<Result> {
  return withPatience(work, async () => `${name}\n${await house.describeLive()}`)
}

const numbers = (from: number, to: number): readonly number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
