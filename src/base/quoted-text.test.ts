import { expect, test } from "vitest"
import { toQuotedText } from "./quoted-text.ts"

test("every line has the margin, and one empty line stays", () => {
  expect(toQuotedText("one\n\n  two\n")).toBe("│ one\n│\n│   two")
})

test("of several empty lines, also of blanks, the number is given, in a line without the margin", () => {
  expect(toQuotedText(`one${"\n".repeat(71)}two`)).toBe("│ one\n… 70 empty lines\n│ two")
  expect(toQuotedText("one\n \t\n\u00a0\n")).toBe("│ one\n… 2 empty lines")
  expect(toQuotedText("… 3 empty lines")).toBe("│ … 3 empty lines")
})
