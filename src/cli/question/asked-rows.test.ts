import { expect, test } from "vitest"
import { toAskedRows, toDetailRows, toTextRows } from "./asked-rows.ts"

const WIDE = Number.POSITIVE_INFINITY

test("only a question for permission has lines of our own: everything else that stands in a detail has the margin", () => {
  const detail = "Tool a of plugin b\n│ rm x"
  expect(toDetailRows({ kind: "approval", text: "", detail, isPermission: true }, WIDE)).toEqual([
    "  Tool a of plugin b",
    "  │ rm x",
  ])
  expect(toDetailRows({ kind: "text", text: "", detail: "One\n\n\n1) yes" }, WIDE)).toEqual([
    "  │ One",
    "  … 2 empty lines",
    "  │ 1) yes",
  ])
})

test("where the screen breaks a line, also in the middle of a word, the rest of it has the margin", () => {
  const rows = toAskedRows(`│ echo ${"x".repeat(40)} Answer: meanwhile tasks answer 12345678 yes`, 30)
  for (const row of rows) expect(row).toMatch(/^ {2}│ .{1,26}$/)
  expect(toAskedRows("[12345678] The agent asks: is this right? Allow it?", 30, "")).toEqual([
    "[12345678] The agent",
    "  │ asks: is this right?",
    "  │ Allow it?",
  ])
  const [, ...wide] = toAskedRows(`│ ${"\u{20000}".repeat(26)}`, 30)
  expect(wide).toEqual([`  │ ${"\u{20000}".repeat(13)}`])
  expect(toAskedRows(`│ a${"\t".repeat(10)}b`, 30)).toHaveLength(2)
})

test("further lines of a question's words have the margin, too", () => {
  expect(toTextRows({ text: "The agent asks: Which?\n  1) yes" }, WIDE)).toEqual([
    "The agent asks: Which?",
    "  │   1) yes",
  ])
})
