import { setTimeout as sleep } from "node:timers/promises"
import { expect } from "vitest"
import type { Child } from "./child.ts"
import { createRandom, type Random, requireNone } from "./seed.ts"
import { createScenario, type TurnScenario } from "./turn-scenario.ts"
import { countAnswers, createTurnSite, type TurnSite, type TurnSiteOptions } from "./turn-site.ts"
import type { TurnWire } from "./turn-wire.ts"

/** Roughly the effects of a whole turn: a later kill would come after its end. */
const EFFECTS = 7

/** Seeds take the stories in turn, so that as many seeds as there are stories meet all of them. */
export const STORIES: readonly TurnScenario["steps"][] = [
  [["look", "note"], ["build"]],
  [["look", "note", "pay"], ["deploy"]],
  [
    ["build", "note"],
    ["look", "note"],
  ],
  [["note", "look"], ["deploy", "build"], ["look"]],
]

export interface Kills {
  /** Kills of the program that people use. */
  readonly real: number
  /** Kills of a program made for the test, which can die exactly at a commit. */
  readonly exact: number
}

export interface KillsOptions extends TurnSiteOptions {
  /** The most deaths in one turn. */
  readonly mostDeaths?: number
}

/** Counts the kills between the turn's beginning and its end. */
export async function playKills(
  wire: TurnWire,
  seed: number,
  { mostDeaths = 4, ...options }: KillsOptions = {},
): Promise<Kills> {
  const random = createRandom(seed)
  const steps = STORIES[seed % STORIES.length] ?? []
  const scenario = createScenario(`kill-${seed}`, steps)
  const site = createTurnSite(wire, scenario, options)
  const kills = { real: 0, exact: 0 }
  let crashes = 0
  let answers = 0
  try {
    for (let life = 1, isOpen = true; isOpen && life <= mostDeaths; life++) {
      // Nobody answers questions in the real program, so it would never end there.
      const by = life > 1 && steps.flat().includes("pay") ? "exact" : "real"
      const child = by === "real" ? await killReal(site, random, life === 1) : await killExact(site, random)
      answers += countAnswers(child)
      crashes += 1
      isOpen = await site.isInTurn()
      if (isOpen) kills[by] += 1
    }
    const session = (await site.findSession()) ?? scenario.session
    const child = site.start({ session, goesOn: true })
    await site.ended(child)
    expect(child.lines.at(-1), child.lines.join("\n")).toContain("finished")
    answers += countAnswers(child)
    requireNone(await site.findViolations({ crashes, answers, session, unsaved: crashes }))
    return kills
  } finally {
    site.remove()
  }
}

/** Kills the program shortly after an effect or a model call. An open turn has at least one of each still to come. */
async function killReal(site: TurnSite, random: Random, isFirst: boolean): Promise<Child> {
  const delayMs = random.pick([0, 0, 1, 3, 8, 15, 30])
  const effects = site.effects().length + (isFirst ? random.integer(1, EFFECTS) : 1)
  const questions = site.questions() + (isFirst ? random.integer(1, 3) : 1)
  const child = site.startReal(isFirst ? "run" : "chat")
  await (random.chance(0.7) ? site.happened(effects, child) : site.asked(questions, child))
  await sleep(delayMs)
  await child.kill()
  return child
}

async function killExact(site: TurnSite, random: Random): Promise<Child> {
  const when = random.pick(["before", "after"] as const)
  const session = await site.findSession()
  const atCommit = { number: random.integer(1, 4), when, signal: "SIGKILL" } as const
  const child = site.start({ atCommit, ...(session && { session }) })
  await site.ended(child)
  expect(child.lines.filter((line) => line.includes("failed"))).toEqual([])
  return child
}
