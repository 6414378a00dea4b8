import { expect, test } from "vitest"
import { createTestDatabase } from "../support/postgres/server.ts"
import { isLong, requireNone, TEST_SEED, withSeed } from "../support/chaos/seed.ts"
import { playKills, STORIES } from "../support/chaos/turn-kills.ts"
import { openTurnWire } from "../support/chaos/turn-wire.ts"

const FILE = "test/chaos/turn-kill-postgres.slow.test.ts"
/** The short form meets each kind of accident, the long one looks for bad combinations. */
const KILLS = isLong ? 400 : 5
/** The most deaths in one turn. The short form plays each story with a second death. */
const MOST_DEATHS = isLong ? 4 : 2

test("a program whose store is a server goes on with the turn in which it was killed, and repeats nothing that was finished", async () => {
  const startedMs = performance.now()
  const wire = await openTurnWire()
  let real = 0
  let exact = 0
  try {
    for (let round = 1; real < KILLS || round <= STORIES.length; round++) {
      const seed = TEST_SEED + 55_000 + round
      await using store = await createTestDatabase()
      const options = { engine: store.url, mostDeaths: MOST_DEATHS }
      const kills = await withSeed(FILE, "killed", seed, () => playKills(wire, seed, options))
      real += kills.real
      exact += kills.exact
    }
    requireNone(wire.problems)
  } finally {
    await wire.close()
  }
  const tookMs = Math.round(performance.now() - startedMs)
  console.info(`${real} kills of the program and ${exact} at exact commits, all in mid-turn, took ${tookMs} ms`)
  expect(real).toBeGreaterThanOrEqual(KILLS)
})
