import { expect, test } from "vitest"
import { findBrokenConversation } from "../support/chaos/turn-conversation.ts"
import { describeTurnCrash, type ProcessCrash } from "../support/chaos/turn-crash.ts"
import { createTurnHouse, type OpenHouse, type TurnHouse } from "../support/chaos/turn-house.ts"
import { findTurnViolations } from "../support/chaos/turn-invariants.ts"
import { readStoredSession } from "../support/chaos/turn-record.ts"
import { createScenario, finishTurn, goOn } from "../support/chaos/turn-scenario.ts"
import { withPatience } from "../support/patience.ts"

const SCENARIO = createScenario("collection", [["look", "note"], ["note"]])
/** Too small for the talk and the turn after it together, and large enough for the turn alone. */
const TIGHT = {
  contextLimitTokens: 1_000,
  gc: { strategy: "summarize", thresholdPercent: 40, targetPercent: 35, keepRecentTurns: 1 },
} as const

test("a crash during a collection loses neither the turn nor what was collected", async () => {
  const { first, last, collected } = await countPoints()
  expect(collected).toBeGreaterThan(0)
  const points = (["commit", "effect"] as const).flatMap((at) =>
    numbers(first[at] + 1, last[at]).flatMap((number): ProcessCrash[] => [
      { at, number, when: "before" },
      { at, number, when: "after" },
    ]),
  )
  for (const point of points) expect(await playRound(point), describeTurnCrash(point)).toEqual([])
})

interface Count {
  readonly commit: number
  readonly effect: number
}

async function countPoints(): Promise<{ first: Count; last: Count; collected: number }> {
  const house = await createTalkedHouse()
  try {
    const { life, opened } = await house.begin()
    const open = await opened
    const first = { commit: life.commits, effect: life.effects }
    const before = await open.store.session(SCENARIO.session)
    await playAgain(open)
    const last = { commit: life.commits, effect: life.effects }
    const entries = await open.store.messages(SCENARIO.session, before?.messageCount ?? 0, 1_000)
    return {
      first,
      last,
      collected: entries.filter(({ body }) => JSON.stringify(body).includes('"collection"')).length,
    }
  } finally {
    await house.remove()
  }
}

/** A house with a conversation that has something to collect. */
async function createTalkedHouse(): Promise<TurnHouse> {
  const house = createTurnHouse(TIGHT)
  const { runtime } = await (await house.begin()).opened
  const session = await runtime.createSession({ id: SCENARIO.session })
  for (const word of ["One", "Two", "Three"]) await session.send(`${word}: ${"tell me more about it. ".repeat(10)}`)
  await runtime.close()
  house.effects.length = 0
  return house
}

async function playAgain({ runtime }: OpenHouse): Promise<void> {
  const session = await runtime.openSession(SCENARIO.session)
  await session.send(SCENARIO.prompt)
}

async function playRound(point: ProcessCrash): Promise<readonly string[]> {
  const house = await createTalkedHouse()
  try {
    const { life, opened } = await house.begin(point)
    await withPatience(Promise.race([opened.then(playAgain), life.over]), house.describeLive)
    life.end()
    const open = await (await house.begin()).opened
    await withPatience(finishTurn(open.runtime), house.describeLive)
    const isBegun = ((await readStoredSession(open.store, SCENARIO.session))?.said ?? []).includes(SCENARIO.prompt)
    if (!isBegun) return house.effects.map((effect) => `${effect} happened in a turn that nobody knows`)
    const before = await findUnpaired(open)
    await goOn(open, SCENARIO)
    const after = await findUnpaired(open)
    const expected = { ...SCENARIO, crashes: 1, answers: 0, effects: [...house.effects] }
    const found = await findTurnViolations(open.store, expected)
    await open.runtime.close()
    return [...found, ...before, ...after]
  } finally {
    await house.remove()
  }
}

/** A summary stands before what was said, as a message of its own: providers take two of the person in a row. */
async function findUnpaired({ runtime }: OpenHouse): Promise<readonly string[]> {
  const messages = (await runtime.sessions.load(SCENARIO.session))?.messages ?? []
  return findBrokenConversation(messages).filter((problem) => !problem.endsWith("are both of user"))
}

const numbers = (from: number, to: number): readonly number[] =>
  Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index)
