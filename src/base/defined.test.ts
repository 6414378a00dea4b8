import { expect, test } from "vitest"
import { defined } from "./defined.ts"

test("a field that is undefined is left out, every other value stays in its place", () => {
  const fields = defined({ name: "a", title: undefined as string | undefined, count: 0, flag: false, none: null })
  expect(Object.entries(fields)).toEqual([
    ["name", "a"],
    ["count", 0],
    ["flag", false],
    ["none", null],
  ])
})
