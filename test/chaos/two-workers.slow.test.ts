import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import { type Child, startChild } from "../support/chaos/child.ts"
import { planCommands } from "../support/chaos/crash-plan.ts"
import type { Command } from "../support/chaos/crash-protocol.ts"
import { createCrashSite, type CrashSite } from "../support/chaos/crash-site.ts"
import { createCallers, listen } from "../support/chaos/callers.ts"
import { eventually } from "../support/eventually.ts"
import { withPatience } from "../support/patience.ts"
import { stateOf } from "../support/processes.ts"
import { createRandom, isLong, type Random, requireNone, TEST_SEED, withSeed } from "../support/chaos/seed.ts"
import { builtProgram } from "../support/built-program.ts"

const FILE = "test/chaos/two-workers.slow.test.ts"
const PROGRAM = builtProgram("crash-program")
const SLOTS = 3
const LEASE_SECONDS = 1
/** The short form meets each kind of accident, the long one looks for bad combinations. */
const ROUNDS = isLong ? 300 : 4
const AT_ONCE = 2

test("two programs on one store, killed and frozen in turn, do nothing twice and leave nothing behind", async () => {
  const rounds = Array.from({ length: ROUNDS }, (_, index) => index + 1)
  async function work(): Promise<void> {
    for (let round = rounds.shift(); round !== undefined; round = rounds.shift()) {
      const seed = TEST_SEED + 20_000 + round
      const random = createRandom(seed)
      const accidents = planAccidents(random, round)
      await withSeed(FILE, "two programs", seed, () => playRound(random, accidents))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
})

interface Accidents {
  /** True: a signal from outside freezes the program anywhere. False: the program freezes itself, at a safe point. */
  readonly isFrozenAnywhere: boolean
  readonly turns: readonly ("kill" | "freeze")[]
}

/** The short form meets both ways to freeze, each before and after a kill; the long one leaves all of it to chance. */
function planAccidents(random: Random, round: number): Accidents {
  if (!isLong) return { isFrozenAnywhere: round % 2 === 0, turns: round > 2 ? ["kill", "freeze"] : ["freeze", "kill"] }
  const turns = Array.from({ length: random.integer(1, 3) }, () => random.pick(["kill", "freeze"] as const))
  return { isFrozenAnywhere: random.chance(0.4), turns }
}

async function playRound(random: Random, { isFrozenAnywhere, turns }: Accidents): Promise<void> {
  const site = createCrashSite()
  const callers = createCallers()
  const workers: Child[] = []
  const start = (): Child => {
    const child = startChild({
      program: PROGRAM,
      parameters: [site.directory, String(SLOTS), String(LEASE_SECONDS)],
      directory: site.directory,
    })
    workers.push(child)
    return child
  }
  try {
    const pair: [Child, Child] = [start(), start()]
    // A program that is frozen anywhere may be frozen between the look at its lease and the effect. Then an effect that may
    // be repeated can come after its repetition. Effects that may happen only once still must happen only once.
    for (const child of pair) give(child, random, isFrozenAnywhere)
    for (const accident of turns) {
      const index = random.pick([0, 1] as const)
      await pair[index].reachedOrIdle(random.integer(1, 20))
      await sleep(random.integer(0, 60))
      if (accident === "kill") {
        await pair[index].kill()
        pair[index] = start()
      } else await freeze(pair[index], random, isFrozenAnywhere)
      give(pair[index], random, isFrozenAnywhere)
    }
    await withPatience(settle(site, pair, start), async () => `${lastWords(workers)}\n${await site.describeLive()}`)
    for (const child of workers) listen(child, callers)
    requireNone(await site.findViolations(callers))
  } finally {
    for (const child of workers) child.process.kill("SIGKILL")
    site.remove()
  }
}

function give(child: Child, random: Random, isAllOnce: boolean): void {
  for (const command of planCommands(random, random.integer(2, 4), { isAllOnce })) send(child, command)
}

/** Freezes the program, mostly for longer than its lease, so that the other one takes its tasks over; sometimes for less. */
async function freeze(child: Child, random: Random, isAnywhere: boolean): Promise<void> {
  if (isAnywhere) child.process.kill("SIGSTOP")
  else send(child, { do: "freeze" })
  // A SIGCONT that comes before the program stands still is lost, and the program would stand still for ever.
  await eventually("it stands still", () => stateOf(child.process.pid ?? 0) === "T")
  await sleep(LEASE_SECONDS * 1_000 * random.pick([0.5, 1.6, 2.2]))
  child.process.kill("SIGCONT")
}

/** Lets both programs leave when everything has ended; the next start finds nothing that it cannot clear away. */
async function settle(site: CrashSite, [first, second]: readonly [Child, Child], start: () => Child): Promise<void> {
  for (const child of [second, first]) {
    send(child, { do: "settle" })
    await child.said('"settled"')
  }
  for (const child of [second, first]) await comeToItsEnd(child, { do: "leave" })
  site.age()
  await comeToItsEnd(start(), { do: "finish", answer: true })
}

async function comeToItsEnd(child: Child, command: Command): Promise<void> {
  send(child, command)
  await child.exited
  expect(child.lines.slice(-3).join("\n"), "it must come to its end").toContain('"finished":true')
}

function lastWords(workers: readonly Child[]): string {
  return workers.map(({ lines, process }) => `${process.pid}: ${lines.slice(-4).join(" ")}`).join("\n")
}

function send(child: Child, command: Command): void {
  child.send(JSON.stringify(command))
}
