import { expect, test } from "vitest"
import { findNearNames } from "./near-name.ts"

test("a name is near when it is written almost alike", () => {
  expect(findNearNames("taks", ["tasks", "task", "bg"])).toEqual(["tasks", "task"])
  expect(findNearNames("b", ["bg", "run"])).toEqual(["bg"])
  expect(findNearNames("BG", ["bg"])).toEqual(["bg"])
})

test("a short name is not near to one with which it has nothing in common", () => {
  expect(findNearNames("", ["bg", "run"])).toEqual([])
  expect(findNearNames("/", ["bg", "run"])).toEqual([])
  expect(findNearNames("zz", ["bg"])).toEqual([])
  expect(findNearNames("mcp", ["gc"])).toEqual([])
})
