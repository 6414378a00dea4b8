import { expect, test } from "vitest"
import { chooseSeed } from "./test-seed.ts"

test("a short run keeps the seeds of its suites, a long one takes a new seed, and both take one that is given", () => {
  expect(chooseSeed(false, undefined)).toBeUndefined()
  const seeds = new Set(Array.from({ length: 20 }, () => chooseSeed(true, "")))
  expect(seeds.size).toBeGreaterThan(10)
  expect([chooseSeed(false, "7"), chooseSeed(true, "7")]).toEqual([7, 7])
})

test.each(["seven", "-1", "1.5", "9".repeat(12)])("%s is refused as a seed", (given) => {
  expect(() => chooseSeed(true, given)).toThrow("Give a whole number")
})
