import { expect, test } from "vitest"
import { isAbout } from "./engines.ts"

test("a run of the tests is about the engine that it names, or about both", () => {
  const asked = ["embedded", "postgres", "both"].map((wanted) => [
    isAbout("embedded", wanted),
    isAbout("postgres", wanted),
  ])
  expect(asked).toEqual([
    [true, false],
    [false, true],
    [true, true],
  ])
})

test("an engine that nobody knows is refused, instead of testing nothing", () => {
  expect(() => isAbout("embedded", "postgresql")).toThrow("Use embedded, postgres or both.")
})
