import { expect, test } from "vitest"
import { createManualClock } from "../../../base/manual-clock.ts"
import { createSteadyTime } from "./server-time.ts"

const HOUR_MS = 3_600_000

/** A machine that tells its uptime in whole seconds. `upMs` is its true uptime. */
function openMachine() {
  const clock = createManualClock()
  let sleptMs = 0
  const upMs = (): number => clock.monotonic() + sleptMs
  const steady = createSteadyTime({
    monotonicMs: clock.monotonic,
    wallMs: clock.now,
    uptimeMs: () => Math.floor(upMs() / 1_000) * 1_000,
  })
  return {
    clock,
    steady,
    upMs,
    suspend(durationMs: number) {
      sleptMs += durationMs
      clock.suspend(durationMs)
    },
  }
}

test.each([HOUR_MS, -HOUR_MS])("time goes on as before when the clock is set by %i ms", (byMs) => {
  const { clock, steady, upMs } = openMachine()
  clock.advance(1_500)
  clock.jump(byMs)
  expect(steady()).toBe(upMs())
  clock.advance(1_500)
  expect(steady()).toBe(upMs())
})

test("the time of a suspension has passed, to a second or so", () => {
  const { clock, steady, upMs, suspend } = openMachine()
  clock.advance(700)
  suspend(HOUR_MS)
  expect(Math.abs(steady() - upMs())).toBeLessThan(2_000)
  clock.advance(10_000)
  suspend(HOUR_MS)
  expect(Math.abs(steady() - upMs())).toBeLessThan(2_000)
})

test("a machine that was suspended while its clock was set knows for how long", () => {
  const { clock, steady, upMs, suspend } = openMachine()
  suspend(HOUR_MS)
  clock.jump(-2 * HOUR_MS)
  expect(Math.abs(steady() - upMs())).toBeLessThan(2_000)
})

test("many short suspensions are not lost", () => {
  const { clock, steady, upMs, suspend } = openMachine()
  for (let count = 0; count < 100; count += 1) {
    suspend(1_000)
    clock.advance(50)
    expect(upMs() - steady()).toBeLessThan(6_000)
  }
})

test("the time never goes back", () => {
  const { clock, steady, suspend } = openMachine()
  let last = steady()
  for (const byMs of [5_000, -9_000, 3_600_000, -3_600_000, 2_000, 7_777]) {
    clock.jump(byMs)
    if (byMs > 0) suspend(byMs)
    clock.advance(333)
    expect(steady()).toBeGreaterThan(last)
    last = steady()
  }
})
