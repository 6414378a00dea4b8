import { expect, test } from "vitest"
import { createRecalledLines } from "./recalled-lines.ts"

function open(earlier: readonly string[] = [], most = 3) {
  const added: string[] = []
  const lines = createRecalledLines({ earlier, most, onAdded: (message) => added.push(message) })
  return { lines, added }
}

test("a message of several lines is recalled as one line, and means the same message again", () => {
  const { lines, added } = open()
  const message = "one\ntwo\n\nthree"
  lines.add(message)
  expect(lines.list).toHaveLength(1)
  expect(lines.list[0]).not.toContain("\n")
  expect(lines.toMessage(lines.list[0] ?? "")).toBe(message)
  expect(added).toEqual([message])
})

test("lines that readline adds by itself are not recalled: parts of messages, and answers", () => {
  const { lines } = open(["earlier"])
  lines.add("a message")
  const changed = ["y", ...lines.list]
  lines.restore(changed)
  expect(changed).toEqual(["a message", "earlier"])
})

test("a message that was just recalled comes once, empty ones never, and the oldest go", () => {
  const { lines, added } = open(["c", "b", "a"])
  for (const message of ["d", "d", "  ", ""]) lines.add(message)
  expect(lines.list).toEqual(["d", "c", "b"])
  expect(added).toEqual(["d"])
})

test("earlier lines cannot draw on the terminal", () => {
  expect(open(["\u001b[2Jwiped\u0007\nall"]).lines.list).toEqual(["wiped␤all"])
})
