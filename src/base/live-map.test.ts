import { expect, test } from "vitest"
import { createLiveMap } from "./live-map.ts"

test("a live map holds what was set and not deleted, in the order in which it was set", () => {
  const map = createLiveMap<string, number>()
  for (const [key, value] of [
    ["a", 1],
    ["__proto__", 2],
    ["b", 3],
  ] as const)
    map.set(key, value)
  map.set("a", 4)
  map.delete("b")
  map.delete("unknown")
  expect([...map.values()]).toEqual([4, 2])
  expect([map.size, map.get("a"), map.get("b"), map.get("__proto__"), map.has("b"), map.has("toString")]).toEqual([
    2,
    4,
    undefined,
    2,
    false,
    false,
  ])
})

test("the values read from a live map stay complete while entries are deleted", () => {
  const map = createLiveMap<string, number>()
  for (let key = 0; key < 3; key++) map.set(`key ${key}`, key)
  const seen: number[] = []
  for (const value of map.values()) {
    map.delete("key 2")
    seen.push(value)
  }
  expect(seen).toEqual([0, 1, 2])
  expect(map.size).toBe(2)
})

test("an entry stays in a live map while thousands of others are set and deleted", () => {
  const map = createLiveMap<string, number>()
  map.set("first", -1)
  for (let key = 0; key < 5_000; key++) {
    map.set(`key ${key}`, key)
    if (key >= 3) map.delete(`key ${key - 3}`)
  }
  expect(map.values()).toEqual([-1, 4_997, 4_998, 4_999])
  expect([map.get("first"), map.has("key 4996"), map.get("key 4997")]).toEqual([-1, false, 4_997])
})
