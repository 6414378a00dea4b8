import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import type { Child } from "./child.ts"
import { createRandom, isLong, type Random, requireNone, TEST_SEED, withSeed } from "./seed.ts"
import type { TurnOrders } from "./turn-protocol.ts"
import { createScenario, type TurnScenario } from "./turn-scenario.ts"
import { countAnswers, createTurnSite, reportsOf, type TurnSite } from "./turn-site.ts"
import { openTurnWire, type TurnWire } from "./turn-wire.ts"

const FILE = "test/chaos/turn-kill.slow.test.ts"
const KILLS = isLong ? 1_000 : 40
const AT_ONCE = 2
/** Of a whole turn, roughly: later ones would come after its end. */
const COMMITS = 9
const EFFECTS = 12

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
      kills += await withSeed(FILE, "killed in mid-turn", seed, () => playRound(wire, seed))
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

/** Returns how often the program was killed before the turn was over. */
async function playRound(wire: TurnWire, seed: number): Promise<number> {
  const random = createRandom(seed)
  const scenario = createScenario(`kill-${seed}`, random.pick(STORIES))
  const site = createTurnSite(wire, scenario)
  const lives = random.integer(1, 3)
  let kills = 0
  let answers = 0
  try {
    for (let life = 1; life <= lives; life++) {
      const child = await liveAndDie(site, random, life === 1 ? { prompt: scenario.prompt } : {})
      answers += countAnswers(child)
      if (!reportsOf(child).some((report) => "ended" in report || "finished" in report)) kills += 1
    }
    const child = site.start({ goesOn: true })
    await site.ended(child)
    expect(child.lines.at(-1), child.lines.join("\n")).toContain("finished")
    answers += countAnswers(child)
    requireNone(await site.findViolations({ crashes: lives, answers }))
    return kills
  } finally {
    site.remove()
  }
}

/** At a commit, or a while after an effect or a question to the model, the program dies. */
async function liveAndDie(site: TurnSite, random: Random, orders: Partial<TurnOrders>): Promise<Child> {
  const isFirst = orders.prompt !== undefined
  const how = random.pick(["commit", "commit", "effect", "asked"])
  const when = random.pick(["before", "after"] as const)
  const number = random.integer(1, isFirst ? COMMITS : 5)
  const delayMs = random.pick([0, 0, 1, 3, 8, 15, 30])
  const more = random.integer(1, isFirst ? EFFECTS : 3)
  const step = random.integer(0, 2)
  const before = site.effects().length
  const child = site.start({ ...orders, ...(how === "commit" && { atCommit: { number, when, signal: "SIGKILL" } }) })
  if (how === "commit") await Promise.race([child.exited, child.said("finished")])
  else if (how === "effect") await site.happened(before + more, child)
  else await site.asked(step, child)
  await sleep(delayMs)
  await child.kill()
  return child
}
