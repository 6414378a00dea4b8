import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { createReachability } from "./reachability.ts"

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] })
})

afterEach(() => {
  vi.useRealTimers()
})

/** Every probe takes `probeMs` and has the next outcome; the last outcome stays. */
function open(probes: readonly ("there" | "gone")[], probeMs = 0) {
  const told: string[] = []
  let asked = 0
  const reachability = createReachability({
    async probe() {
      const outcome = probes[Math.min(asked++, probes.length - 1)]
      await new Promise((resolve) => setTimeout(resolve, probeMs))
      if (outcome === "gone") throw new Error("refused")
    },
    onAway: (cause) => told.push(`away: ${String(cause)}`),
    onBack: () => told.push("back"),
  })
  return { reachability, told, asked: () => asked }
}

test("a server that answers is not asked again, and nobody is told", async () => {
  const { reachability, told, asked } = open(["there"])
  reachability.doubt()
  reachability.doubt()
  await vi.advanceTimersByTimeAsync(10_000)
  expect([told, asked()]).toEqual([[], 1])
})

test("a connection that can be made again within a second is not reported", async () => {
  const { reachability, told } = open(["gone", "gone", "there"])
  reachability.doubt()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(told).toEqual([])
  expect(reachability.isAway).toBe(false)
})

test("a server that stays away is reported once, and again when it is back", async () => {
  const { reachability, told } = open([...Array.from({ length: 20 }, () => "gone" as const), "there"])
  reachability.doubt()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(told).toEqual(["away: Error: refused"])
  expect(reachability.isAway).toBe(true)
  reachability.doubt()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(told).toEqual(["away: Error: refused", "back"])
  expect(reachability.isAway).toBe(false)
})

test.for([0, 900])(
  "a server whose return is confirmed is back at once, and is doubted anew (%i ms a probe)",
  async (probeMs) => {
    const { reachability, told, asked } = open(["gone"], probeMs)
    reachability.confirm()
    reachability.doubt()
    await vi.advanceTimersByTimeAsync(3_000)
    expect(told).toEqual(["away: Error: refused"])
    reachability.confirm()
    expect(reachability.isAway).toBe(false)
    expect(told).toEqual(["away: Error: refused", "back"])
    const before = asked()
    reachability.doubt()
    await vi.advanceTimersByTimeAsync(5_000)
    expect(asked()).toBeGreaterThan(before)
    expect(told).toEqual(["away: Error: refused", "back", "away: Error: refused"])
    await Promise.all([reachability.close(), vi.advanceTimersByTimeAsync(1_000)])
    reachability.confirm()
    expect(told).toHaveLength(3)
  },
)

test("a server whose return is confirmed is not asked again", async () => {
  const { reachability, asked } = open(["gone"])
  reachability.doubt()
  await vi.advanceTimersByTimeAsync(3_000)
  const before = asked()
  reachability.confirm()
  await vi.advanceTimersByTimeAsync(10_000)
  expect(asked()).toBe(before)
})

test("one answer that is late proves nothing", async () => {
  const { reachability, told } = open(["gone", "there"], 5_000)
  reachability.doubt()
  await vi.advanceTimersByTimeAsync(30_000)
  expect(told).toEqual([])
})

test("nothing is asked or told once it is closed", async () => {
  const { reachability, told, asked } = open(["gone"])
  reachability.doubt()
  await Promise.all([reachability.close(), vi.advanceTimersByTimeAsync(10)])
  const before = asked()
  reachability.doubt()
  await vi.advanceTimersByTimeAsync(10_000)
  expect([told, asked()]).toEqual([[], before])
})
