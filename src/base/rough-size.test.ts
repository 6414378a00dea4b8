import { expect, test } from "vitest"
import { toRoughBytes } from "./rough-size.ts"

test("a value has about the size of all that is in it", () => {
  const text = "x".repeat(1_000)
  expect(toRoughBytes(text)).toBeGreaterThan(2_000)
  expect(toRoughBytes({ lines: [text, text] })).toBeGreaterThan(2 * toRoughBytes(text))
  expect(toRoughBytes({ [text]: null })).toBeGreaterThan(1_000)
  expect(toRoughBytes([1, true, null, ""])).toBeLessThan(200)
})

test("one that is nested deeper than calls can be has a size", () => {
  let nested: unknown = "core"
  for (let level = 0; level < 100_000; level += 1) nested = [nested]
  expect(toRoughBytes(nested)).toBeGreaterThan(100_000)
})
