import { setTimeout as sleep } from "node:timers/promises"
import { expect, test } from "vitest"
import { type Child, startChild } from "../support/chaos/child.ts"
import { createCrashSite, type CrashSite, SITE_MARKER } from "../support/chaos/crash-site.ts"
import { withPatience } from "../support/patience.ts"
import { createRandom, isLong, type Random, requireNone, TEST_SEED, withSeed } from "../support/chaos/seed.ts"
import { toCommand } from "../support/chaos/shell-script.ts"
import { builtProgram } from "../support/built-program.ts"

const FILE = "test/chaos/kill-cli.slow.test.ts"
const PROGRAM = builtProgram("cli/main")
/** The short form meets each kind of accident, the long one looks for bad combinations. */
const ROUNDS = isLong ? 500 : 4
const PROMOTED = /^\[([0-9a-f]{8})\] still runs/

test("the program that people use is killed and started again: every announced task ends, whole and once", async () => {
  let kills = 0
  for (let round = 1; round <= ROUNDS; round++) {
    const seed = TEST_SEED + 10_000 + round
    const done = await withSeed(FILE, "the program that people use", seed, () =>
      playRound(createRandom(seed), 1 + (round % 2)),
    )
    kills += done
  }
  expect(kills).toBe(ROUNDS * 1.5)
})

async function playRound(random: Random, kills: number): Promise<number> {
  const site = createCrashSite()
  const announced = new Set<string>()
  try {
    for (let life = 1; life <= kills; life++) await liveAndDie(site, random, announced)
    site.age()
    const child = startProgram(site)
    child.send("/tasks")
    child.process.stdin?.end()
    await withPatience(child.exited, () => site.describeLive()).finally(() => void child.process.kill("SIGKILL"))
    expect(child.lines.filter((line) => line.startsWith("exited with"))).toEqual([])
    const violations = await site.findViolations({
      answered: await site.toFullIds(announced),
      mayBeCancelled: new Set(),
      mustBeStopped: [],
    })
    requireNone(violations)
    return kills
  } finally {
    site.remove()
  }
}

/** Runs one command after the other, each of which soon leaves the foreground, and kills the program somewhere among them. */
async function liveAndDie(site: CrashSite, random: Random, announced: Set<string>): Promise<void> {
  const child = startProgram(site)
  for (let count = random.integer(2, 6); count > 0; count--) {
    const lines = random.pick([2, 5, 12])
    const pauseSeconds = random.pick([0.02, 0.05])
    child.send(`/run ${toCommand({ lines, pauseSeconds, exitCode: random.pick([0, 0, 7]) })}`)
  }
  child.send("/help")
  await Promise.race([child.reached(random.integer(0, 25)), child.said("show this list")])
  await sleep(random.pick([0, 0, 2, 10, 40]))
  await child.kill()
  for (const line of child.lines) {
    const [, id] = PROMOTED.exec(line) ?? []
    if (id) announced.add(id)
  }
}

function startProgram(site: CrashSite): Child {
  return startChild({
    program: PROGRAM,
    parameters: ["--data-dir", site.dataDirectory],
    directory: site.directory,
    environment: {
      [SITE_MARKER]: site.directory,
      EFFECTS: site.effectsFile,
      MEANWHILE_BACKGROUND_THRESHOLD_SECONDS: "0.04",
      MEANWHILE_BACKGROUND_STOP_GRACE_SECONDS: "0.5",
    },
  })
}
