import { existsSync, mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createTestSpool } from "../support/spool.ts"

const LIMIT = { outputLimitBytes: 4_096 }

test("runs up to the given last one are removed, and the files of a later one stay", async () => {
  const { spool, run, taskId, directory } = createTestSpool()
  const runs = [run, spool.openRun(taskId, 2, LIMIT), spool.openRun(taskId, 3, LIMIT)]
  for (const each of runs) {
    each.keep()
    each.write("something\n")
    await each.flush()
  }
  await spool.remove(taskId, 2)
  expect(readdirSync(join(directory, taskId))).toEqual(["3"])
  await spool.remove(taskId, 3)
  expect(existsSync(join(directory, taskId))).toBe(false)
})

test("a task's folder that a crash during its removal left empty goes with the last run", async () => {
  const { spool, taskId, directory } = createTestSpool()
  mkdirSync(join(directory, taskId))
  await spool.remove(taskId, 1)
  expect(existsSync(join(directory, taskId))).toBe(false)
})
