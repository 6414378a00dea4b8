import { expect, test } from "vitest"
import { createLiveMap } from "./live-map.ts"

test("a live map knows what came and did not go, in the order it came", () => {
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

test("what is read of a live map stays as it was read while values go", () => {
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

test("what lives is known through thousands that come and go beside it", () => {
  const map = createLiveMap<string, number>()
  map.set("first", -1)
  for (let key = 0; key < 5_000; key++) {
    map.set(`key ${key}`, key)
    if (key >= 3) map.delete(`key ${key - 3}`)
  }
  expect(map.values()).toEqual([-1, 4_997, 4_998, 4_999])
  expect([map.get("first"), map.has("key 4996"), map.get("key 4997")]).toEqual([-1, false, 4_997])
})
