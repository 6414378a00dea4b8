import { expect, test } from "vitest"
import { isMeanwhileError } from "../../base/error.ts"
import type { TaskRecord } from "../../task/record.ts"
import { applyEvents, COMPLETED, createTask, RUNNING } from "../suite/samples.ts"
import { expectRefusal } from "../suite/subject.ts"
import { createTestStore } from "../../../test/support/embedded/store.ts"

const LARGE = { text: "x".repeat(100_000) }

test("a full disk fails what does not fit with a clear error, and the store stays whole and usable", async () => {
  const { engine, dispose } = await createTestStore({ maxPages: 1_000, patienceMs: 0 })
  const written: TaskRecord[] = []
  let refusal: unknown
  while (!refusal) {
    try {
      written.push(await createTask(engine, RUNNING, { input: LARGE }))
    } catch (error) {
      refusal = error
    }
  }
  expect(isMeanwhileError(refusal, "disk_full")).toBe(true)
  expect(written.length).toBeGreaterThan(5)
  expect(await engine.store.countTasks({})).toBe(written.length)
  expect(await engine.store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })

  const [first] = written
  if (!first) throw new Error("nothing was written")
  await applyEvents(engine, first.id, COMPLETED)
  await engine.store.commit([{ op: "task.remove", taskId: first.id }])
  expect((await createTask(engine, RUNNING, { input: LARGE })).input).toEqual(LARGE)
  await dispose()
})

test("a writer that is too large does not fail the others of its group", async () => {
  const { engine, dispose } = await createTestStore({ maxPages: 400, patienceMs: 0 })
  const [small, large, other] = await Promise.allSettled([
    createTask(engine),
    createTask(engine, RUNNING, { input: { text: "x".repeat(2_000_000) } }),
    createTask(engine),
  ])
  expect([small.status, other.status]).toEqual(["fulfilled", "fulfilled"])
  expect(large).toMatchObject({ status: "rejected", reason: { code: "disk_full" } })
  await expectRefusal(createTask(engine, RUNNING, { input: { text: "x".repeat(2_000_000) } }), "disk_full")
  expect(await engine.store.countTasks({})).toBe(2)
  await dispose()
})
