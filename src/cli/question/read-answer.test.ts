import { describe, expect, test } from "vitest"
import { describeAnswers } from "./answer-hint.ts"
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
    expect(readAnswer(permission, line)).toBe(value)
  })

  test.each(["maybe", "yes please", "5", "0", "yesterday"])("%j is no answer, and allows nothing", (line) => {
    expect(readAnswer(permission, line)).toBeUndefined()
  })
})

test("several options are chosen by number or by name, and an unknown one is no answer", () => {
  const question = { kind: "choice", text: "Which?", options: ["red", "green", "blue"], isMultiple: true } as const
  expect(readAnswer(question, "1, Blue")).toBe("red, blue")
  expect(readAnswer(question, "1, 7")).toBeUndefined()
})

test("own words answer a choice that allows them, and a number of no option does not", () => {
  const question = { kind: "choice", text: "Which?", options: ["red", "green"], allowsText: true } as const
  expect(readAnswer(question, "2")).toBe("green")
  expect(readAnswer(question, "a dark one")).toBe("a dark one")
  expect(readAnswer(question, "7")).toBeUndefined()
  expect(readAnswer({ ...question, isMultiple: true }, "red, and some pink")).toBe("red, and some pink")
  expect(readAnswer({ ...question, allowsText: false }, "a dark one")).toBeUndefined()
})

test("an approval takes yes and no only, and an empty line without a default is no answer", () => {
  const question = { kind: "approval", text: "Delete?" } as const
  expect(readAnswer(question, " Yes ")).toBe("yes")
  expect(readAnswer(question, "n")).toBe("no")
  expect(readAnswer(question, "ok")).toBeUndefined()
  expect(readAnswer(question, "")).toBeUndefined()
})

test("a text is taken as it is, even if it begins with a slash", () => {
  expect(readAnswer({ kind: "text", text: "Where?" }, "/etc/hosts")).toBe("/etc/hosts")
})

test("the hint names letters that stand for options, and says which option `a` is", () => {
  expect(describeAnswers(permission)).toBe("y, n, a (that is 3) or a number from 1 to 4")
  expect(describeAnswers({ kind: "approval", text: "Delete?" })).toBe("y or n")
  const choice = { kind: "choice", text: "Which?", options: ["red", "green"] } as const
  expect(describeAnswers(choice)).toBe("a number from 1 to 2, or the words of one")
  expect(describeAnswers({ ...choice, allowsText: true })).toBe("a number from 1 to 2, or your own words")
})
