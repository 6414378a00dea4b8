import { appendFile } from "node:fs/promises"
import { afterEach, beforeEach, expect, test } from "vitest"
import { createTask } from "../suite/samples.ts"
import { createEmbeddedEngine } from "./engine.ts"
import { createLogFlush } from "./log-flush.ts"
import { createFolder } from "./test-store.ts"

let path: string
let remove: () => Promise<void>

beforeEach(async () => {
  ;({ path, remove } = await createFolder())
})

afterEach(() => remove())

test("a log that is handed to the disk meanwhile loses nothing and is gone when the store is closed", async () => {
  const engine = await createEmbeddedEngine({ path, synchronous: "normal" })
  for (let count = 0; count < 450; count++) await createTask(engine)
  await engine.close()
  await expect(appendFile(`${path}-wal`, "", { flag: "r+" })).rejects.toThrow("ENOENT")
  await using again = await createEmbeddedEngine({ path, synchronous: "normal" })
  expect(await again.store.countTasks({})).toBe(450)
})

test("a log that cannot be opened is nobody's problem", async () => {
  const flush = createLogFlush(path)
  for (let count = 0; count < 450; count++) flush.committed()
  await expect(flush.close()).resolves.toBeUndefined()
})
