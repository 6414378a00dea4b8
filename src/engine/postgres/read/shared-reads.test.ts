import { expect, test } from "vitest"
import { createSharedReads } from "./shared-reads.ts"

test("readers of one moment share a statement, and those that come meanwhile the next one", async () => {
  const asked: (readonly string[])[] = []
  const firstIsUnderWay = Promise.withResolvers<void>()
  const mayAnswer = Promise.withResolvers<void>()
  const read = createSharedReads(async (ids: readonly string[]) => {
    asked.push(ids)
    firstIsUnderWay.resolve()
    await mayAnswer.promise
    return new Map(ids.filter((id) => id !== "missing").map((id) => [id, id.toUpperCase()]))
  })
  const early = [read("a"), read("b"), read("a"), read("missing")]
  await firstIsUnderWay.promise
  const late = [read("a"), read("c")]
  mayAnswer.resolve()
  expect(await Promise.all([...early, ...late])).toEqual(["A", "B", "A", undefined, "A", "C"])
  expect(asked).toEqual([
    ["a", "b", "missing"],
    ["a", "c"],
  ])
})

test("a statement that fails fails its readers, and not those that come after", async () => {
  let isBroken = true
  const read = createSharedReads(async (ids: readonly number[]) => {
    if (isBroken) throw new Error("lost")
    return new Map(ids.map((id) => [id, id]))
  })
  await expect(Promise.all([read(1), read(2)])).rejects.toThrow("lost")
  isBroken = false
  expect(await read(1)).toBe(1)
})
