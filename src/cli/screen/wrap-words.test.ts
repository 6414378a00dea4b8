import { expect, test } from "vitest"
import { wrapWords } from "./wrap-words.ts"

test("a line that is too long breaks between words, below where its text begins", () => {
  expect(wrapWords("one two three four", 9)).toBe("one two\nthree\nfour")
  expect(wrapWords("  one two three", 9)).toBe("  one two\n  three")
  expect(wrapWords("fits\n  one two three", 9)).toBe("fits\n  one two\n  three")
})

test("a table keeps its columns: the rest of a line begins in the given column", () => {
  expect(wrapWords("/task ID  show what is known", 20, 10)).toBe("/task ID  show what\n          is known")
})

test("colours take no room, and a word that is longer than a line stays whole", () => {
  expect(wrapWords("\u001b[2mone two\u001b[22m", 7)).toBe("\u001b[2mone two\u001b[22m")
  expect(wrapWords("see https://example.org/a/long/address now", 12)).toBe(
    "see\nhttps://example.org/a/long/address\nnow",
  )
})
