import { afterAll, beforeAll, expect, test } from "vitest"
import { createEmptyStore } from "../support/chaos/delivery-house.ts"
import { planOutbox } from "../support/chaos/delivery-outbox.ts"
import { type DeliveryPlan, planDelivery } from "../support/chaos/delivery-plan.ts"
import { countCommits, playDelivery } from "../support/chaos/delivery-round.ts"
import type { CrashPoint } from "../support/chaos/mortal-engine.ts"
import { createRandom, isLong, type Random, TEST_SEED, withSeed } from "../support/chaos/seed.ts"

const FILE = "test/chaos/delivery-points.slow.test.ts"
/**
 * The seeds of the second test; the first test dies at every commit. The short form meets each kind of death, the long one
 * looks for bad combinations.
 */
const SEEDS = isLong ? 9_124 : 54
const NO_CRASH: CrashPoint = { at: "commit", number: Number.POSITIVE_INFINITY, when: "before" }

let empty: Awaited<ReturnType<typeof createEmptyStore>>
let points: readonly CrashPoint[]

beforeAll(async () => {
  empty = await createEmptyStore()
  const commits = await countCommits(planOutbox(0, createRandom(TEST_SEED), NO_CRASH), empty.path)
  const numbers = Array.from({ length: commits }, (_, index) => index + 1)
  points = numbers.flatMap((number) => (["before", "after"] as const).map((when) => ({ at: "commit", number, when })))
})

afterAll(() => empty.remove())

test("no commit between the end of a run and the turn that tells it can lose it, or have it told twice", async () => {
  expect(points.length).toBeGreaterThan(60)
  await playAll("no commit", TEST_SEED + 60_000, points.length, (seed, random, index) =>
    planOutbox(seed, random, points[index] as CrashPoint),
  )
})

test("whatever a process dies at, the end of every run reaches its conversation exactly once", async () => {
  const crashes = await playAll("exactly once", TEST_SEED + 61_000, SEEDS, planDelivery)
  expect(crashes).toBeGreaterThan(SEEDS / 2)
})

/** Returns how many lives ended before they were done. */
async function playAll(
  name: string,
  firstSeed: number,
  count: number,
  toPlan: (seed: number, random: Random, index: number) => DeliveryPlan,
): Promise<number> {
  const startedMs = performance.now()
  let crashes = 0
  for (let index = 0; index < count; index++) {
    const seed = firstSeed + index
    const plan = toPlan(seed, createRandom(seed), index)
    crashes += await withSeed(FILE, name, seed, () => playDelivery(plan, empty.path))
  }
  console.info(`${count} seeds with ${crashes} crashes took ${Math.round(performance.now() - startedMs)} ms`)
  return crashes
}
