import { expect, test } from "vitest"
import { createHouse, type House, ROOM } from "../support/chaos/crash-house.ts"
import { fillEverySlot, finishAll, playScenario } from "../support/chaos/crash-scenario.ts"
import { parseEffects } from "../support/chaos/effects.ts"
import { type CrashPoint, describeCrash } from "../support/chaos/mortal-engine.ts"
import { findViolations } from "../support/chaos/outcome-invariants.ts"
import { withPatience } from "../support/patience.ts"
import { createRandom, isLong, requireNone, TEST_SEED, withSeed } from "../support/chaos/seed.ts"

const FILE = "test/chaos/crash-points.slow.test.ts"

type Kind = Pick<CrashPoint, "at" | "when">

/** Two of three deaths are at a commit. Each round begins with the next kind, so that a few rounds meet every kind. */
const KINDS: readonly [Kind, ...Kind[]] = [
  { at: "commit", when: "before" },
  { at: "commit", when: "after" },
  { at: "effect", when: "before" },
  { at: "commit", when: "before" },
  { at: "commit", when: "after" },
  { at: "effect", when: "after" },
]

test("whatever commit or effect a process dies at, the next one loses nothing and repeats nothing", async () => {
  const { commits, effects } = await countPoints()
  const points = (["before", "after"] as const).flatMap((when) => [
    ...numbers(commits).map((number): CrashPoint => ({ at: "commit", number, when })),
    ...numbers(effects).map((number): CrashPoint => ({ at: "effect", number, when })),
  ])
  expect(points.length).toBeGreaterThanOrEqual(160)
  for (const point of points) await withSeed(FILE, "whatever commit", TEST_SEED, () => playRound([point]))
})

test("dying again while taking over is no different", async () => {
  const { commits, effects } = await countPoints()
  for (const round of numbers(isLong ? 3_000 : 12)) {
    const random = createRandom(TEST_SEED + round)
    const pick = (kind: Kind, most: { commit: number; effect: number }): CrashPoint => ({
      ...kind,
      number: random.integer(1, most[kind.at]),
    })
    const later = numbers(random.integer(1, 3)).map(() => pick(random.pick(KINDS), { commit: 25, effect: 8 }))
    const first = KINDS[round % KINDS.length] ?? KINDS[0]
    const points = [pick(first, { commit: commits, effect: effects }), ...later]
    await withSeed(FILE, "dying again", TEST_SEED + round, () => playRound(points))
  }
})

async function countPoints(): Promise<{ commits: number; effects: number }> {
  const house = createHouse()
  try {
    const { life, clock, opened } = await house.begin()
    await wait(
      house,
      opened.then(({ tasks }) => playScenario(house, tasks, clock, life)),
      "no crash",
    )
    return { commits: life.commits, effects: life.effects }
  } finally {
    await house.remove()
  }
}

/** One life for each crash point, then one without a crash. */
async function playRound(points: readonly CrashPoint[]): Promise<void> {
  const house = createHouse()
  const name = points.map(describeCrash).join(", then ")
  try {
    for (const [index, point] of points.entries()) {
      const { life, clock, opened } = await house.begin(point)
      const work = opened.then(({ tasks }) =>
        index === 0 ? playScenario(house, tasks, clock, life) : finishAll(house, tasks),
      )
      await wait(house, Promise.race([work, life.over]), `${name} (life ${life.number})`)
      life.end()
    }
    await checkPeacefulLife(house, name)
  } finally {
    await house.remove()
  }
}

async function checkPeacefulLife(house: House, name: string): Promise<void> {
  const { opened } = await house.begin()
  const { tasks, engine, close } = await opened
  await wait(house, finishAll(house, tasks), name)
  await wait(house, fillEverySlot(tasks, ROOM.maxConcurrentTasks ?? 1), `${name}, then filling every slot`)
  const effects = parseEffects(house.effects.join("\n"))
  const violations = [...(await findViolations(engine.store, { ...house, effects }))]
  const leases = await engine.store.leases("worker:")
  if (leases.length !== 1) violations.push(`${leases.length} workers are registered, one lives`)
  await close()
  requireNone(violations.map((violation) => `${name}: ${violation}`))
}

function wait<Result>(house: House, work: Promise<Result>, name: string): Promise<Result> {
  return withPatience(work, async () => `${name}\n${await house.describeLive()}`)
}

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index + 1)
