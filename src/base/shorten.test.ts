import { expect, test } from "vitest"
import { shorten, shortenMiddle } from "./shorten.ts"

const LENGTHS = Array.from({ length: 140 }, (_, length) => length)
const PAIRS = "😀".repeat(100)

test("a text that is too long ends with an ellipsis, and none becomes longer than allowed", () => {
  expect(shorten("four", 4)).toBe("four")
  expect(shorten("five!", 4)).toBe("fiv…")
  expect(shorten("two words", 5)).toBe("two…")
  expect(shorten("a", 0)).toBe("")
})

test("a text that is too long keeps its beginning and its end, and says how much is left out", () => {
  const text = `begin${"x".repeat(1_000)}end`
  expect(shortenMiddle("short", 5)).toBe("short")
  expect(shortenMiddle(text, 50)).toMatch(/^beginx+ \[… \d+ characters left out …\] x+end$/)
  expect(shortenMiddle(text, 13, () => "[…]")).toBe("begin[…]xxend")
  expect(shortenMiddle(text, 13, () => "[…]", 0.3)).toBe("beginxx[…]end")
})

test("the number of characters left out is right", () => {
  const text = Array.from({ length: 300 }, (_, index) => index).join()
  for (const length of LENGTHS.slice(40)) {
    const [, head = "", count, tail = ""] =
      /^(.*) \[… (\d+) characters left out …\] (.*)$/.exec(shortenMiddle(text, length)) ?? []
    expect(head.length + Number(count) + tail.length).toBe(text.length)
    expect(text.startsWith(head) && text.endsWith(tail)).toBe(true)
  }
})

test("where the note has no room, only the beginning stays", () => {
  expect(shortenMiddle("a long text", 5)).toBe("a lo…")
  expect(shortenMiddle("a long text", 0)).toBe("")
})

test.each([
  ["shorten", shorten],
  ["shortenMiddle", shortenMiddle],
])("%s keeps every limit and never leaves half of a character", (_, cut) => {
  for (const text of [PAIRS, `x${PAIRS}`, `\uDE00${"x".repeat(150)}\uD83D`]) {
    for (const length of LENGTHS) {
      const short = cut(text, length)
      expect(short.length).toBeLessThanOrEqual(length)
      expect(short.isWellFormed()).toBe(true)
      if (text.includes("😀")) expect(short).not.toContain("\uFFFD")
    }
    expect(cut(text, 1_000)).toBe(text.toWellFormed())
  }
})
