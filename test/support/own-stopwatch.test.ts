import { expect, test } from "vitest"
import { createOwnStopwatch } from "./own-stopwatch.ts"

const COMPUTED_MS = 200

test("what this process computes is counted, whatever else the machine does, and never more than the time on the wall", () => {
  const startedMs = performance.now()
  const stopwatch = createOwnStopwatch()
  compute(COMPUTED_MS)
  const elapsedMs = stopwatch.elapsedMs()
  expect(elapsedMs).toBeLessThanOrEqual(performance.now() - startedMs)
  // Other processes may have used the other cores all the time.
  expect(elapsedMs).toBeGreaterThan(COMPUTED_MS / 4)
})

function compute(amountMs: number): void {
  const start = process.cpuUsage()
  let usedMs = 0
  while (usedMs < amountMs) {
    const { user, system } = process.cpuUsage(start)
    usedMs = (user + system) / 1_000
  }
}
