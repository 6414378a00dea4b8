import { expect, test } from "vitest"
import { createTestDatabase } from "../support/postgres/server.ts"
import { DELIVERY_ACCIDENTS, playDeliveryKills } from "../support/chaos/delivery-kills.ts"
import { isLong, TEST_SEED, withSeed } from "../support/chaos/seed.ts"

const FILE = "test/chaos/delivery-kill-postgres.slow.test.ts"
/** The short form meets each kind of accident, the long one looks for bad combinations. */
const SEEDS = isLong ? 400 : 4

test("a program whose store is a server, killed while it tells what has ended, tells all of it once at the next start", async () => {
  const startedMs = performance.now()
  let kills = 0
  let early = 0
  const met = new Set<string>()
  for (let index = 0; index < SEEDS; index++) {
    const seed = TEST_SEED + 85_000 + index
    await using store = await createTestDatabase()
    const options = { seed, index, engine: store.url }
    const counted = await withSeed(FILE, "tells all of it once", seed, () => playDeliveryKills(options))
    kills += counted.kills
    early += counted.early
    for (const kind of counted.met) met.add(kind)
  }
  const tookMs = Math.round(performance.now() - startedMs)
  console.info(`${SEEDS} seeds with ${kills} kills, ${early} of them before all was told, took ${tookMs} ms`)
  expect(kills).toBeGreaterThanOrEqual(SEEDS)
  expect(early).toBeGreaterThan(kills / 3)
  expect([...DELIVERY_ACCIDENTS].filter((kind) => !met.has(kind))).toEqual([])
})
