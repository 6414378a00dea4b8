import { expect, test } from "vitest"
import { createNaming } from "./connection.ts"

test("a text that comes again gets a name of its own, which it keeps", () => {
  const naming = createNaming(10)
  expect(naming("SELECT 1")).toBe("SELECT 1")
  const named = naming("SELECT 1")
  expect(named).toMatchObject({ text: "SELECT 1" })
  naming("SELECT 2")
  expect(naming("SELECT 2")).not.toMatchObject({ name: (named as { name: string }).name })
  expect(naming("SELECT 1")).toEqual(named)
})

test("no more texts get names than allowed", () => {
  const naming = createNaming(2)
  const texts = Array.from({ length: 2_000 }, (_, index) => `SELECT ${index}`)
  for (let round = 0; round < 2; round++) for (const text of texts.slice(0, 5)) naming(text)
  for (const text of texts) naming(text)
  expect(texts.filter((text) => typeof naming(text) !== "string")).toHaveLength(2)
})
