import { expect, test } from "vitest"
import { breakAt, cutToWidth, widthOf } from "./text-width.ts"

test("colours take no room, wide characters two columns, marks none", () => {
  expect(widthOf("\u001b[31mred\u001b[39m")).toBe(3)
  expect(widthOf("日本")).toBe(4)
  expect(widthOf("e\u0301")).toBe(1)
  expect(widthOf("🚀")).toBe(2)
})

test("a text is cut within its columns and never inside a character", () => {
  expect(cutToWidth("short", 5)).toBe("short")
  expect(cutToWidth("much too long", 6)).toBe("much …")
  expect(widthOf(cutToWidth("日本日本", 6))).toBeLessThanOrEqual(6)
})

test("a line breaks behind the last space that fits, and without one where the room ends", () => {
  expect("one two three".slice(0, breakAt("one two three", 9))).toBe("one two ")
  expect("onetwothree".slice(0, breakAt("onetwothree", 4))).toBe("onet")
  expect(breakAt("🚀🚀", 1)).toBeGreaterThan(0)
})

test("characters of two columns count as two, also rare ones", () => {
  for (const wide of ["\ufe10", "\ua960", "\u{1f200}", "\u{1aff0}", "\u{1d300}"]) expect(widthOf(wide)).toBe(2)
})
