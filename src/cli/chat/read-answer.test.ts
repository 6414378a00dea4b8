import { describe, expect, test } from "vitest"
import { readAnswer } from "./read-answer.ts"

const permission = {
  kind: "choice",
  text: "Allow it?",
  options: ["yes", "no", "always in this session, for: npm …", "always in this session, for every call of it"],
  fallback: "no",
} as const

describe("an answer to a question for permission", () => {
  test.each([
    ["y", "yes"],
    ["YES", "yes"],
    ["1", "yes"],
    ["n", "no"],
    ["", "no"],
    ["a", "always in this session, for: npm …"],
    ["4", "always in this session, for every call of it"],
    ["no, use pnpm", "no, use pnpm"],
  ])("%j means %j", (line, value) => {
    expect(readAnswer(permission, line)).toEqual({ value })
  })

  test.each(["maybe", "yes please", "5", "0", "yesterday"])("%j is asked again, and allows nothing", (line) => {
    expect(readAnswer(permission, line)).toEqual({ problem: "Answer with one of the numbers 1 to 4." })
  })
})

test("of several options some are chosen by number or by name, and an unknown one is asked again", () => {
  const question = { kind: "choice", text: "Which?", options: ["red", "green", "blue"], isMultiple: true } as const
  expect(readAnswer(question, "1, Blue")).toEqual({ value: "red, blue" })
  expect(readAnswer(question, "1, 7")).toEqual({ problem: expect.stringContaining("1 to 3") as string })
})

test("an approval takes yes and no only, and an empty line where nothing stands for it is asked again", () => {
  const question = { kind: "approval", text: "Delete?" } as const
  expect(readAnswer(question, " Yes ")).toEqual({ value: "yes" })
  expect(readAnswer(question, "n")).toEqual({ value: "no" })
  expect(readAnswer(question, "ok")).toEqual({ problem: "Answer with yes or no." })
  expect(readAnswer(question, "")).toEqual({ problem: "Type an answer." })
})

test("a text is taken as it is, also one that begins with a slash", () => {
  expect(readAnswer({ kind: "text", text: "Where?" }, "/etc/hosts")).toEqual({ value: "/etc/hosts" })
})
