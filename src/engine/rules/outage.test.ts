import { beforeEach, expect, onTestFinished, test, vi } from "vitest"
import { createOutage } from "./outage.ts"

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
})

const FULL = "The disk is full. Waiting for it; work that has begun continues once it is back."

function openOutage() {
  const told: string[] = []
  const away: boolean[] = []
  const outage = createOutage({
    store: "The store",
    tell: (line) => void told.push(line),
    onAway: (isAway) => void away.push(isAway),
  })
  return { outage, told, away }
}

test("an outage is told once, and once more when a write that waited is taken", () => {
  const { outage, told, away } = openOutage()
  outage.refused(() => "The disk is full.")
  vi.advanceTimersByTime(5_000)
  outage.accepted()
  expect(told).toEqual([FULL, "The store is back, after 5 s."])
  expect(away).toEqual([true, false])
})

test("a refusal that is over within a second is not told", () => {
  const { outage, told } = openOutage()
  outage.refused(() => "The disk is full.")
  vi.advanceTimersByTime(500)
  outage.accepted()
  vi.advanceTimersByTime(60_000)
  expect(told).toEqual([])
})

test("an outage is not over for a person while small writes still fit and large ones are given up", () => {
  const { outage, told, away } = openOutage()
  for (let minute = 0; minute < 5; minute++) {
    outage.refused(() => "The disk is full.")
    vi.advanceTimersByTime(50_000)
    outage.gaveUp()
    outage.accepted()
    vi.advanceTimersByTime(10_000)
  }
  expect(told).toEqual([FULL])
  expect(away.slice(0, 4)).toEqual([true, false, true, false])
  vi.advanceTimersByTime(60_000)
  expect(told).toEqual([FULL, "The store is back, after 290 s."])
})
