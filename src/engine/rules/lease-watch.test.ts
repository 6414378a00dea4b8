import { expect, test } from "vitest"
import { createManualClock } from "../../base/manual-clock.ts"
import { createLeaseWatch } from "./lease-watch.ts"

const LEASE = { key: "worker/1", holder: "one", fence: 1, ttlMs: 1_000, renewals: 1, data: { pid: 7 } }
const cannotSay = (): undefined => undefined

test("a lease is over when its counter stood still for its whole time", () => {
  const clock = createManualClock()
  const watch = createLeaseWatch(clock, cannotSay)
  expect(watch.isOver(LEASE)).toBe(false)
  clock.advance(999)
  expect(watch.isOver(LEASE)).toBe(false)
  clock.advance(1)
  expect(watch.isOver(LEASE)).toBe(true)
})

test("a renewal, however late, begins its time anew", () => {
  const clock = createManualClock()
  const watch = createLeaseWatch(clock, cannotSay)
  watch.isOver(LEASE)
  clock.advance(5_000)
  expect(watch.isOver({ ...LEASE, renewals: 2 })).toBe(false)
  clock.advance(1_000)
  expect(watch.isOver({ ...LEASE, renewals: 2 })).toBe(true)
})

test("a lease that was taken over is another one", () => {
  const clock = createManualClock()
  const watch = createLeaseWatch(clock, cannotSay)
  watch.isOver(LEASE)
  clock.advance(5_000)
  expect(watch.isOver({ ...LEASE, fence: 2 })).toBe(false)
})

test("a wall clock that jumps, or a machine that slept, ends no lease", () => {
  const clock = createManualClock()
  const watch = createLeaseWatch(clock, cannotSay)
  watch.isOver(LEASE)
  clock.jump(3_600_000)
  expect(watch.isOver(LEASE)).toBe(false)
  clock.jump(-7_200_000)
  expect(watch.isOver(LEASE)).toBe(false)
  clock.suspend(3_600_000)
  expect(watch.isOver(LEASE)).toBe(false)
})

test("the lease of a dead process is over at once, and a living process can still let its lease run out", () => {
  const clock = createManualClock()
  expect(createLeaseWatch(clock, () => false).isOver(LEASE)).toBe(true)
  const watch = createLeaseWatch(clock, ({ pid }) => pid === 7)
  expect(watch.isOver(LEASE)).toBe(false)
  clock.advance(1_000)
  expect(watch.isOver(LEASE)).toBe(true)
})
