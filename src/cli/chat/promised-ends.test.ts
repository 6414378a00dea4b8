import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createTaskId } from "../../task/id.ts"
import { createFolder } from "../../../test/support/workplace.ts"
import { createPromisedEnds } from "./promised-ends.ts"

test("what was promised is known to the next program in the folder, until it was told", () => {
  const folder = join(createFolder(), "promised")
  const [one, other] = [createTaskId(), createTaskId()]
  expect(createPromisedEnds(folder).list()).toEqual([])
  for (const id of [one, other]) createPromisedEnds(folder).add(id)
  createPromisedEnds(folder).remove(one)
  const { list, has } = createPromisedEnds(folder)
  expect([list(), has(one), has(other)]).toEqual([[other], false, true])
})

test("a folder that cannot be had keeps no chat from its start", () => {
  const path = join(createFolder(), "promised")
  writeFileSync(path, "a file stands in its place")
  const { add, remove, has, list } = createPromisedEnds(path)
  const id = createTaskId()
  add(id)
  remove(id)
  expect([has(id), list()]).toEqual([false, []])
})
