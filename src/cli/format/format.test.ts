import { expect, test } from "vitest"
import { formatDuration } from "./format.ts"

test.each([
  [0, "0 ms"],
  [999.4, "999 ms"],
  [999.6, "1.0 s"],
  [59_949, "59.9 s"],
  [59_950, "1 min 0 s"],
  [90_000, "1 min 30 s"],
  [119_499, "1 min 59 s"],
  [119_500, "2 min 0 s"],
  [3_599_499, "59 min 59 s"],
  [3_599_500, "1 h 0 min"],
  [7_260_000, "2 h 1 min"],
])("%d ms read as %s", (durationMs, text) => {
  expect(formatDuration(durationMs)).toBe(text)
})
