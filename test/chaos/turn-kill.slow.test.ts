import { expect, test } from "vitest"
import { createOwnStopwatch } from "../support/own-stopwatch.ts"
import { isLong, requireNone, TEST_SEED, withSeed } from "../support/chaos/seed.ts"
import { playKills, STORIES } from "../support/chaos/turn-kills.ts"
import { openTurnWire } from "../support/chaos/turn-wire.ts"

const FILE = "test/chaos/turn-kill.slow.test.ts"
/** The short form meets each kind of accident, the long one looks for bad combinations. */
const KILLS = isLong ? 1_000 : 8
const AT_ONCE = 2
/** The longest that the run may take on a machine without other work. */
const LONGEST_MS = isLong ? 3_600_000 : 15_000

test("a program that is killed in mid-turn goes on with it at the next start, and repeats nothing that was finished", async () => {
  const stopwatch = createOwnStopwatch()
  const wire = await openTurnWire()
  let real = 0
  let exact = 0
  let round = 0
  async function work(): Promise<void> {
    while (real < KILLS || round < STORIES.length) {
      round += 1
      const seed = TEST_SEED + 50_000 + round
      const kills = await withSeed(FILE, "killed in mid-turn", seed, () => playKills(wire, seed))
      real += kills.real
      exact += kills.exact
    }
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    requireNone(wire.problems)
  } finally {
    await wire.close()
  }
  expect(real).toBeGreaterThanOrEqual(KILLS)
  const tookMs = Math.round(stopwatch.elapsedMs())
  console.info(`${real} kills of the program and ${exact} at exact commits, all in mid-turn, took ${tookMs} ms`)
  expect(tookMs).toBeLessThan(LONGEST_MS)
})
