import { expect, test } from "vitest"
import { openRunner } from "../support/open-runner.ts"
import { openTestEngine, openTestRuntime } from "../support/test-engine.ts"
import { echo } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

test("a close that fails in the middle closes the rest, and says what failed first", async () => {
  const directory = createFolder()
  const meanwhile = await openTestRuntime({ dataDirectory: directory })
  const { store } = meanwhile.engine
  const { tasks } = store
  Object.assign(store, { tasks: () => Promise.reject(new Error("the disk is gone")) })
  await expect(meanwhile.tasks.close()).rejects.toThrow("the disk is gone")
  Object.assign(store, { tasks })
  expect(await store.leases("worker:")).toEqual([])
  await expect(meanwhile.close()).rejects.toThrow("the disk is gone")
  await expect(store.leases("worker:")).rejects.toMatchObject({ code: "closed" })
})

test("a runner that cannot be created says why, not what went wrong while it was closed again", async () => {
  const directory = createFolder()
  const engine = await openTestEngine(directory)
  const store = {
    ...engine.store,
    leases: () => Promise.reject(new Error("the leases cannot be read")),
    tasks: () => Promise.reject(new Error("the tasks cannot be read either")),
  }
  const opening = openRunner(directory, { engine: { ...engine, store }, tools: [echo] })
  await expect(opening).rejects.toThrow("the leases cannot be read")
})
