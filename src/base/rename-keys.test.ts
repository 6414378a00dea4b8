import { expect, test } from "vitest"
import { renameKeys } from "./rename-keys.ts"

const spellings = { oldName: "name" }

test("another spelling becomes its key, and everything else stays", () => {
  expect(renameKeys({ oldName: 1, other: 2 }, spellings)).toEqual({ name: 1, other: 2 })
})

test("a key that is given in both spellings keeps both", () => {
  expect(renameKeys({ oldName: 1, name: 2 }, spellings)).toEqual({ oldName: 1, name: 2 })
})

test.each([undefined, null, 3, "text", [1]])("%j is left as it is", (value) => {
  expect(renameKeys(value, spellings)).toEqual(value)
})
