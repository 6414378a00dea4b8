import { expect, test } from "vitest"
import { renameKeys, requireOneSpelling } from "./rename-keys.ts"

const spellings = { oldName: "name" }

test("another spelling becomes its key, and everything else stays", () => {
  expect(renameKeys({ oldName: 1, other: 2 }, spellings)).toEqual({ name: 1, other: 2 })
})

test("a key that is given in both spellings keeps both", () => {
  expect(renameKeys({ oldName: 1, name: 2 }, spellings)).toEqual({ oldName: 1, name: 2 })
})

test("a key that is given in both spellings is refused with both names, and which of them to delete", () => {
  expect(() => requireOneSpelling({ oldName: 1, name: 2 }, spellings)).toThrow(
    "oldName and name are two spellings of the same key. Delete oldName, and keep name.",
  )
  expect(() => requireOneSpelling({ oldName: 1 }, spellings)).not.toThrow()
})

test.each([undefined, null, 3, "text", [1]])("%j is left as it is", (value) => {
  expect(renameKeys(value, spellings)).toEqual(value)
})
