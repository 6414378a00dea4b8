import { expect, test } from "vitest"
import { readDurationMs, readLimitMs } from "./read-duration.ts"

test.each([
  ["90", 90_000],
  ["0.5", 500],
  ["90s", 90_000],
  ["250ms", 250],
  ["30m", 1_800_000],
  ["2h", 7_200_000],
  ["1h30m", 5_400_000],
  [" 1H 30 Min ", 5_400_000],
  ["1.5 hours", 5_400_000],
  ["2d", 172_800_000],
  ["400d", 34_560_000_000],
])("%s is read as %d ms", (text, durationMs) => {
  expect(readDurationMs(text)).toBe(durationMs)
})

test.each(["", "soon", "2x", "1h30", "-5", "1e3", "h", "1 2", "9".repeat(400)])(
  "%j is refused, with examples",
  (text) => {
    expect(() => readDurationMs(text)).toThrow(
      "no time that can be read. Write seconds (90), or numbers with units: 90s",
    )
  },
)

test("a time of 0 is refused, and a limit may be none", () => {
  expect(() => readDurationMs("0s")).toThrow('"0s" is no time at all')
  expect(readLimitMs("None")).toBeNull()
  expect(readLimitMs("2h")).toBe(7_200_000)
  expect(() => readLimitMs("nun")).toThrow("none for no limit")
})
