import { expect, test } from "vitest"
import { createMessageLines } from "./message-lines.ts"

test("a line that ends with a backslash goes on with the next, and one without is a message", () => {
  const lines = createMessageLines()
  expect(lines.add("one")).toBe("one")
  expect(lines.add("first\\")).toBeUndefined()
  expect(lines.isBegun()).toBe(true)
  expect(lines.add("second")).toBe("first\nsecond")
  expect(lines.isBegun()).toBe(false)
})

test("a paste is one message with the text typed after it, and its backslashes stay", () => {
  const lines = createMessageLines()
  expect(lines.add("make \\", true)).toBeUndefined()
  expect(lines.add("  all", true)).toBeUndefined()
  expect(lines.count()).toBe(2)
  expect(lines.add("please")).toBe("make \\\n  all\nplease")
})

test("cleared lines are in no message", () => {
  const lines = createMessageLines()
  lines.add("never\\")
  expect(lines.takeBack()).toBe(true)
  expect(lines.takeBack()).toBe(false)
  expect(lines.add("said")).toBe("said")
})
