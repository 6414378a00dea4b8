import fc from "fast-check"
import { expect, test } from "vitest"
import { assertProperty } from "../../../../test/support/assert-property.ts"
import { createManualClock } from "../../../base/manual-clock.ts"
import { createServerTime } from "./server-time.ts"

const HOUR_MS = 3_600_000

/** A server whose clock has nothing to do with ours, and the way there and back. */
function openServer() {
  const clock = createManualClock(0)
  const time = createServerTime(clock.monotonic)
  let aheadMs = 1_700_000_000_000.4
  const truth = (): number => clock.monotonic() + aheadMs
  return {
    clock,
    time,
    truth,
    setClock: (byMs: number) => (aheadMs += byMs),
    ask(thereMs = 0, backMs = 0) {
      const hear = time.ask()
      clock.advance(thereMs)
      const said = Math.floor(truth())
      clock.advance(backMs)
      hear(said)
      return said
    },
  }
}

test("the time is behind the server's by the way of its answer, and by less after a quicker one", () => {
  const { clock, time, truth, ask } = openServer()
  ask(20, 80)
  expect(truth() - time.now()).toBeCloseTo(80.4)
  ask(300, 3)
  expect(truth() - time.now()).toBeCloseTo(3.4)
  ask(0, 500)
  clock.advance(HOUR_MS)
  expect(truth() - time.now()).toBeCloseTo(3.4)
})

test.each([HOUR_MS, 2, -5, -HOUR_MS])(
  "another server whose clock is %i ms ahead is believed at its first answer",
  (byMs) => {
    const { time, truth, ask, setClock } = openServer()
    ask(1, 1)
    setClock(byMs)
    ask(1, 1)
    expect(truth() - time.now()).toBeGreaterThanOrEqual(0)
    expect(truth() - time.now()).toBeLessThan(3)
  },
)

test("an answer that was long under way is no reason to go back", () => {
  const { clock, time, ask } = openServer()
  ask(1, 1)
  const hear = time.ask()
  const early = time.now()
  clock.advance(30_000)
  hear(early + 2)
  expect(time.now()).toBe(early + 30_000)
})

test("however slow the answers, the time is never before what the server said, and never ahead of the server", () => {
  const way = fc.integer({ min: 0, max: 2_000 })
  const asking = fc.record({ pauseMs: fc.integer({ min: 0, max: 60_000 }), thereMs: way, backMs: way })
  assertProperty(
    fc.property(fc.array(asking, { minLength: 1, maxLength: 30 }), (askings) => {
      const { clock, time, truth, ask } = openServer()
      let quickestMs = Number.POSITIVE_INFINITY
      let last = 0
      for (const { pauseMs, thereMs, backMs } of askings) {
        clock.advance(pauseMs)
        const said = ask(thereMs, backMs)
        quickestMs = Math.min(quickestMs, backMs)
        const now = time.now()
        expect(Number.isSafeInteger(now)).toBe(true)
        expect(now).toBeGreaterThanOrEqual(said)
        expect(now).toBeLessThanOrEqual(truth())
        expect(truth() - now).toBeLessThan(quickestMs + 2)
        expect(now).toBeGreaterThanOrEqual(last)
        last = now
      }
    }),
  )
})

test("with clocks that do not run alike, the time is as near as the last answer was quick", () => {
  const step = fc.record({ driftMs: fc.integer({ min: -3, max: 3 }), backMs: fc.integer({ min: 0, max: 50 }) })
  assertProperty(
    fc.property(fc.array(step, { minLength: 1, maxLength: 50 }), (steps) => {
      const { clock, time, truth, ask, setClock } = openServer()
      ask()
      for (const { driftMs, backMs } of steps) {
        clock.advance(10_000)
        setClock(driftMs)
        ask(5, backMs)
        expect(truth() - time.now()).toBeGreaterThan(-5 - backMs - 2)
        expect(truth() - time.now()).toBeLessThan(backMs + 2)
      }
    }),
  )
})
