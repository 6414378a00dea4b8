import { afterEach, expect, test, vi } from "vitest"
import { systemClock } from "./clock.ts"

afterEach(() => {
  vi.useRealTimers()
})

const DAY_MS = 24 * 60 * 60 * 1_000

test("a time longer than a timer can hold is waited for to its end", () => {
  vi.useFakeTimers()
  const callback = vi.fn()
  systemClock.schedule(60 * DAY_MS, callback)
  vi.advanceTimersByTime(60 * DAY_MS - 1)
  expect(callback).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(callback).toHaveBeenCalledOnce()
})

test("a cancelled time never comes, in whichever stretch it is cancelled", () => {
  vi.useFakeTimers()
  const callback = vi.fn()
  const cancel = systemClock.schedule(60 * DAY_MS, callback)
  vi.advanceTimersByTime(40 * DAY_MS)
  cancel()
  vi.advanceTimersByTime(40 * DAY_MS)
  expect(callback).not.toHaveBeenCalled()
})
