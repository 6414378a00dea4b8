import { describe, expect, test } from "vitest"
import { createManualClock } from "../../../base/manual-clock.ts"
import { createLeaseSilence } from "./judge-lease.ts"

const LEASE = { key: "worker/1", holder: "one", fence: 1, ttlMs: 15_000, renewals: 1, data: {} }
const HOUR_MS = 3_600_000

/** A server whose clock runs with ours until it is set, and a holder that renews when it is told to. */
function openServer() {
  const clock = createManualClock()
  const silence = createLeaseSilence(clock)
  let [serverStart, offsetMs] = ["first", 1_000_000]
  let lease = { ...LEASE }
  const nowMs = () => clock.monotonic() + offsetMs
  let renewedAtMs = nowMs()
  return {
    clock,
    look: () => silence(lease, { serverStart, serverNowMs: nowMs(), renewedAtMs }),
    renew() {
      lease = { ...lease, renewals: lease.renewals + 1 }
      renewedAtMs = nowMs()
    },
    setClock: (byMs: number) => (offsetMs += byMs),
    failOver(byMs: number) {
      serverStart = "second"
      offsetMs += byMs
    },
  }
}

describe("a lease", () => {
  test("is silent since it was renewed, by a server whose clock was watched", () => {
    const { clock, look, renew } = openServer()
    look()
    clock.advance(5_000)
    renew()
    clock.advance(4_000)
    expect(look()).toBe(4_000)
    clock.advance(11_000)
    expect(look()).toBe(15_000)
  })

  test("that was seen for the first time is silent since then, whatever the server's clock says", () => {
    const { clock, look } = openServer()
    clock.advance(HOUR_MS)
    expect(look()).toBe(0)
    clock.advance(5_000)
    expect(look()).toBe(5_000)
  })

  test.each([HOUR_MS, -HOUR_MS])("that is renewed is not silent because a clock was set by %i ms", (byMs) => {
    const { clock, look, renew, setClock } = openServer()
    look()
    for (let second = 0; second < 30; second += 5) {
      if (second === 10) setClock(byMs)
      clock.advance(5_000)
      expect(look()).toBeLessThan(LEASE.ttlMs)
      renew()
    }
  })

  test.each([HOUR_MS, 0, -HOUR_MS])(
    "has its whole time again after a failover to a clock that is %i ms ahead",
    (byMs) => {
      const { clock, look, failOver } = openServer()
      look()
      clock.advance(20_000)
      failOver(byMs)
      expect(look()).toBe(0)
      clock.advance(14_000)
      expect(look()).toBe(14_000)
      clock.advance(1_000)
      expect(look()).toBe(15_000)
    },
  )

  test.each([HOUR_MS, -HOUR_MS])("of a dead holder goes on being silent while a clock is set by %i ms", (byMs) => {
    const { clock, look, setClock } = openServer()
    look()
    clock.advance(10_000)
    setClock(byMs)
    expect(look()).toBe(10_000)
    clock.advance(5_000)
    expect(look()).toBe(15_000)
  })

  test("is not silent for the time in which this machine slept", () => {
    const { look, renew, setClock } = openServer()
    look()
    renew()
    // Our monotonic clock stood still, and the server's did not.
    setClock(HOUR_MS)
    expect(look()).toBe(0)
  })
})
