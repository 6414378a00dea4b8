import { expect, test } from "vitest"
import { DELIVERY_ACCIDENTS, playDeliveryKills } from "../support/chaos/delivery-kills.ts"
import { isLong, TEST_SEED, withSeed } from "../support/chaos/seed.ts"

const FILE = "test/chaos/delivery-kill.slow.test.ts"
/** The short form meets each kind of accident, the long one looks for bad combinations. */
const SEEDS = isLong ? 800 : 7
const AT_ONCE = 2
/** Among these seeds, the one whose second program tells everything starts more tasks than there are slots. */
const FIRST_SEED = TEST_SEED + 79_998

test("a program that is killed while it tells what has ended tells all of it once at the next start", async () => {
  const startedMs = performance.now()
  const indexes = Array.from({ length: SEEDS }, (_, index) => index)
  let kills = 0
  let early = 0
  const met = new Set<string>()
  async function work(): Promise<void> {
    for (let index = indexes.shift(); index !== undefined; index = indexes.shift()) {
      const options = { seed: FIRST_SEED + index, index }
      const counted = await withSeed(FILE, "tells all of it once", options.seed, () => playDeliveryKills(options))
      kills += counted.kills
      early += counted.early
      for (const kind of counted.met) met.add(kind)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  const tookMs = Math.round(performance.now() - startedMs)
  console.info(`${SEEDS} seeds with ${kills} kills, ${early} of them before all was told, took ${tookMs} ms`)
  expect(kills).toBeGreaterThanOrEqual(SEEDS)
  expect(early).toBeGreaterThan(kills / 3)
  expect([...DELIVERY_ACCIDENTS].filter((kind) => !met.has(kind))).toEqual([])
})
