import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import type { Child } from "./child.ts"
import { createRandom, isLong, type Random, requireNone, TEST_SEED, withSeed } from "./seed.ts"
import type { TurnOrders } from "./turn-protocol.ts"
import { createScenario, type TurnScenario } from "./turn-scenario.ts"
import { countAnswers, createTurnSite, type TurnSite } from "./turn-site.ts"
import { openTurnWire, type TurnWire } from "./turn-wire.ts"

const FILE = "test/chaos/turn-kill.slow.test.ts"
const KILLS = isLong ? 1_000 : 40
const AT_ONCE = 2
/** Of a whole turn, roughly: later ones would come after its end. */
const COMMITS = 7
const EFFECTS = 8

const STORIES: readonly [TurnScenario["steps"], ...TurnScenario["steps"][]] = [
  [["look", "note"], ["build"]],
  [["look", "note", "pay"], ["deploy"]],
  [
    ["build", "note"],
    ["look", "pay"],
  ],
  [["note", "look"], ["deploy", "build"], ["look"]],
]

test("a program that is killed in mid-turn goes on with it at the next start, and repeats nothing that was finished", async () => {
  const startedMs = performance.now()
  const wire = await openTurnWire()
  let kills = 0
  let round = 0
  async function work(): Promise<void> {
    while (kills < KILLS) {
      round += 1
      const seed = TEST_SEED + 50_000 + round
      const killed = await withSeed(FILE, "killed in mid-turn", seed, () => playRound(wire, seed))
      kills += killed
    }
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    requireNone(wire.problems)
  } finally {
    await wire.close()
  }
  expect(kills).toBeGreaterThanOrEqual(KILLS)
  console.info(`${kills} kills in mid-turn took ${Math.round(performance.now() - startedMs)} ms`)
})

/** Returns how often the program was killed between the turn's beginning and its end. */
async function playRound(wire: TurnWire, seed: number): Promise<number> {
  const random = createRandom(seed)
  const scenario = createScenario(`kill-${seed}`, random.pick(STORIES))
  const site = createTurnSite(wire, scenario)
  const lives = random.integer(2, 3)
  let crashes = 0
  let kills = 0
  let answers = 0
  try {
    for (let life = 1, isOpen = true; isOpen && life <= lives; life++) {
      const child = await liveAndDie(site, random, life === 1 ? { prompt: scenario.prompt } : {})
      answers += countAnswers(child)
      crashes += 1
      isOpen = await site.isInTurn()
      if (isOpen) kills += 1
    }
    const child = site.start({ goesOn: true })
    await site.ended(child)
    expect(child.lines.at(-1), child.lines.join("\n")).toContain("finished")
    answers += countAnswers(child)
    requireNone(await site.findViolations({ crashes, answers }))
    return kills
  } finally {
    site.remove()
  }
}

/** At a commit, or a while after an effect or a question to the model, the program dies. */
async function liveAndDie(site: TurnSite, random: Random, orders: Partial<TurnOrders>): Promise<Child> {
  const isFirst = orders.prompt !== undefined
  const how = random.pick(["commit", "commit", "effect", "asked"])
  const isCommit = how === "commit"
  const when = random.pick(["before", "after"] as const)
  const number = random.integer(1, isFirst ? COMMITS : 4)
  const delayMs = random.pick([0, 0, 1, 3, 8, 15, 30])
  const more = random.integer(1, isFirst ? EFFECTS : 2)
  const questions = random.integer(1, isFirst ? 3 : 1)
  const counted = { effects: site.effects().length, questions: site.questions() }
  const child = site.start({ ...orders, ...(isCommit && { atCommit: { number, when, signal: "SIGKILL" } }) })
  if (isCommit) await Promise.race([child.exited, child.said("finished")])
  else if (how === "effect") await site.happened(counted.effects + more, child)
  else await site.asked(counted.questions + questions, child)
  await sleep(delayMs)
  await child.kill()
  expect(child.lines.filter((line) => line.includes("failed"))).toEqual([])
  return child
}
