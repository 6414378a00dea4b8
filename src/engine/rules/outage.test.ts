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
  return { outage, write: outage.beginWrite(), told, away }
}

test("an outage is told once, and once more when a write that waited is taken", () => {
  const { write, told, away } = openOutage()
  write.refused(() => "The disk is full.")
  vi.advanceTimersByTime(5_000)
  write.accepted()
  expect(told).toEqual([FULL, "The store is back, after 5 s."])
  expect(away).toEqual([true, false])
})

test("a refusal that is over within a second is not told", () => {
  const { write, told } = openOutage()
  write.refused(() => "The disk is full.")
  vi.advanceTimersByTime(500)
  write.accepted()
  vi.advanceTimersByTime(60_000)
  expect(told).toEqual([])
})

test("an outage is not over for a person while small writes still fit and large ones are given up", () => {
  const { write, told, away } = openOutage()
  for (let minute = 0; minute < 5; minute++) {
    write.refused(() => "The disk is full.")
    vi.advanceTimersByTime(50_000)
    write.gaveUp()
    write.accepted()
    vi.advanceTimersByTime(10_000)
  }
  expect(told).toEqual([FULL])
  expect(away.slice(0, 4)).toEqual([true, false, true, false])
  vi.advanceTimersByTime(60_000)
  expect(told).toEqual([FULL, "The store is back, after 290 s."])
})

test("an outage is not over while a write waits that was refused, whatever else is taken", () => {
  const { outage, write, told, away } = openOutage()
  write.refused(() => "The disk is full.")
  vi.advanceTimersByTime(5_000)
  const small = outage.beginWrite()
  small.refused(() => "The disk is full.")
  small.accepted()
  outage.beginWrite().accepted()
  expect(told).toEqual([FULL])
  expect(away).toEqual([true])
  write.accepted()
  expect(told).toEqual([FULL, "The store is back, after 5 s."])
  expect(away).toEqual([true, false])
})

test("a write that is withdrawn does not keep an outage from being over", () => {
  const { outage, write, told } = openOutage()
  write.refused(() => "The disk is full.")
  vi.advanceTimersByTime(5_000)
  write[Symbol.dispose]()
  outage.beginWrite().accepted()
  expect(told).toEqual([FULL, "The store is back, after 5 s."])
})
