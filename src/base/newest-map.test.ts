import { expect, test } from "vitest"
import { createNewestMap } from "./newest-map.ts"

test("drops the entry set longest ago, and reports it", () => {
  const forgotten: number[] = []
  const map = createNewestMap<string, number>(2, (value) => forgotten.push(value))
  map.set("a", 1)
  map.set("b", 2)
  map.set("a", 3)
  map.set("c", 4)
  expect([...map.entries()]).toEqual([
    ["a", 3],
    ["c", 4],
  ])
  expect([forgotten, map.get("b")]).toEqual([[2], undefined])
})
