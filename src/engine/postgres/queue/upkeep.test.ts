import { expect, test } from "vitest"
import { createManualClock } from "../../../base/manual-clock.ts"
import { createUpkeep } from "./upkeep.ts"

test("the reason why upkeep failed is told apart from the message, for callers who know it already", async () => {
  const clock = createManualClock()
  const told: unknown[] = []
  const supervise = () => Promise.reject(new Error("the server is away"))
  const upkeep = createUpkeep({ supervise }, (...words) => told.push(words), clock)
  clock.advance(25_000)
  await expect.poll(() => told).toEqual([["the queue could not be looked after; trying again", "the server is away"]])
  await upkeep.close()
  clock.advance(25_000)
  expect(told).toHaveLength(1)
})
