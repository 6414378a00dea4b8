import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import { type Callers, createCallers, listen, parseReport } from "../support/chaos/callers.ts"
import { type Child, startChild } from "../support/chaos/child.ts"
import { planCommands } from "../support/chaos/crash-plan.ts"
import type { Command } from "../support/chaos/crash-protocol.ts"
import { createCrashSite, type CrashSite } from "../support/chaos/crash-site.ts"
import { withPatience } from "../support/patience.ts"
import { createRandom, isLong, type Random, requireNone, TEST_SEED, withSeed } from "../support/chaos/seed.ts"
import { builtProgram } from "../support/built-program.ts"

const FILE = "test/chaos/kill.slow.test.ts"
const PROGRAM = builtProgram("crash-program")
const SLOTS = 3
/** The short form meets each kind of accident, the long one looks for bad combinations. */
const ROUNDS = isLong ? 1_000 : 6
const AT_ONCE = 2

test("a program that is killed anywhere, again and again, loses nothing, repeats nothing and leaves nothing running", async () => {
  const rounds = Array.from({ length: ROUNDS }, (_, index) => index + 1)
  let kills = 0
  async function work(): Promise<void> {
    for (let round = rounds.shift(); round !== undefined; round = rounds.shift()) {
      const seed = TEST_SEED + round
      const done = await withSeed(FILE, "killed anywhere", seed, () => playRound(createRandom(seed), 1 + (round % 3)))
      kills += done
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  expect(kills).toBeGreaterThanOrEqual(ROUNDS * 2 - 1)
})

/** Returns how often the program was killed. */
async function playRound(random: Random, kills: number): Promise<number> {
  const site = createCrashSite()
  const callers = createCallers()
  try {
    for (let life = 1; life <= kills; life++) await liveAndDie(site, random, callers, life === 1 ? 8 : 3)
    site.age()
    await liveInPeace(site, random, callers)
    requireNone(await site.findViolations(callers))
    return kills
  } finally {
    site.remove()
  }
}

async function liveAndDie(site: CrashSite, random: Random, callers: Callers, count: number): Promise<void> {
  const child = startProgram(site)
  const commands = planCommands(random, count)
  const cancelShare = random.fraction()
  const lastLine = random.integer(0, count * 4)
  const delayMs = random.pick([0, 0, 1, 5, 20, 60])
  for (const command of commands) child.send(JSON.stringify(command))
  const cancelling = cancelSome(child, random, callers, cancelShare)
  await child.reachedOrIdle(lastLine)
  await sleep(delayMs)
  await child.kill()
  await cancelling
  listen(child, callers)
}

/** Asks to stop some started tasks as soon as their start is answered, so that the program dies with stops in flight. */
async function cancelSome(child: Child, random: Random, callers: Callers, share: number): Promise<void> {
  let seen = 0
  while (child.process.exitCode === null && child.process.signalCode === null) {
    for (const line of child.lines.slice(seen)) {
      const report = parseReport(line)
      if (!report || !("answered" in report) || !random.chance(share / 2)) continue
      callers.mayBeCancelled.add(report.answered)
      child.send(JSON.stringify({ do: "cancel", id: report.answered } satisfies Command))
    }
    seen = child.lines.length
    await child.reached(seen + 1)
  }
}

async function liveInPeace(site: CrashSite, random: Random, callers: Callers): Promise<void> {
  const child = startProgram(site)
  const answer = random.chance(0.5)
  child.send(JSON.stringify({ do: "finish", answer } satisfies Command))
  await withPatience(child.exited, () => site.describeLive()).finally(() => void child.process.kill("SIGKILL"))
  const said = child.lines.slice(-3).join("\n")
  expect(said, "the last start must come to its end").toContain('"finished":true')
  listen(child, callers)
}

function startProgram(site: CrashSite): Child {
  return startChild({ program: PROGRAM, parameters: [site.directory, String(SLOTS)], directory: site.directory })
}
