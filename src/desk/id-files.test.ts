import { readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createTaskId, type TaskId } from "../task/id.ts"
import { createFolder } from "../../test/support/workplace.ts"
import { createIdFiles } from "./id-files.ts"

test("an id that was added is known to the next program in the folder, until it is removed", () => {
  const folder = join(createFolder(), "ids")
  const [one, other] = [createTaskId(), createTaskId()]
  expect(createIdFiles<TaskId>(folder).list()).toEqual([])
  for (const id of [one, other]) createIdFiles<TaskId>(folder).add(id)
  createIdFiles<TaskId>(folder).remove(one)
  const { list, has } = createIdFiles<TaskId>(folder)
  expect([list(), has(one), has(other)]).toEqual([[other], false, true])
})

test("a folder that cannot be made does not keep a chat from starting", () => {
  const path = join(createFolder(), "ids")
  writeFileSync(path, "a file stands in its place")
  const { add, remove, has, list } = createIdFiles<TaskId>(path)
  const id = createTaskId()
  add(id)
  remove(id)
  expect([has(id), list()]).toEqual([false, []])
})

test("an id is never a path", () => {
  const outer = createFolder()
  const { add, remove, has, list } = createIdFiles<TaskId>(join(outer, "a", "ids"))
  const hostile = ["../../escaped", "..", ".", "/etc/passwd", "a\0b", "\ud800", "%2E"] as TaskId[]
  writeFileSync(join(outer, "victim"), "")
  for (const id of hostile) add(id)
  remove("../../victim" as TaskId)
  expect(readdirSync(outer).toSorted()).toEqual(["a", "victim"])
  expect(hostile.map(has)).toEqual(hostile.map(() => true))
  expect(list()).toHaveLength(hostile.length)
  for (const id of hostile) remove(id)
  expect(list()).toEqual([])
})
