import { describe, expect } from "vitest"
import type { Operation } from "../../task/operation.ts"
import {
  applyEvents,
  COMPLETED,
  createEndedTask,
  createSession,
  createTask,
  QUEUED,
  RUNNING,
  sampleDetails,
  toEndedNotice,
} from "./samples.ts"
import { type EngineTest, expectRefusal } from "./subject.ts"

export function describeCommits(test: EngineTest): void {
  describe("a commit", () => {
    test("answers every operation in its order", async ({ engine }) => {
      const details = sampleDetails()
      const run = { taskId: details.id, run: 1, fence: 1 }
      const [created, step, task] = await engine.store.commit([
        { op: "task.create", details, entry: RUNNING },
        { op: "step.finish", run, key: "a", result: 1 },
        { op: "task.apply", run, event: COMPLETED },
      ])
      expect(created.task.status).toBe("running")
      expect(step).toMatchObject({ state: "finished" })
      expect(task).toMatchObject({ status: "completed", lastSequence: 4 })
      expect(await engine.store.commit([])).toEqual([])
    })

    test("happens whole or not at all", async ({ engine }) => {
      const session = await createSession(engine)
      const ended = await createEndedTask(engine, { session })
      const details = sampleDetails()
      const refused: Operation = { op: "session.update", id: session, expectedVersion: 9, messages: [] }
      const written: Operation[] = [
        { op: "task.create", details, entry: QUEUED },
        { op: "notice.consume", keys: [toEndedNotice(ended)], by: null },
        { op: "session.update", id: session, expectedVersion: 1, messages: ["hello"] },
        { op: "lease.take", key: "k", holder: "h", ttlMs: 1, data: {} },
        { op: "task.begin_run", taskId: ended.id, afterRun: 1, reason: "retry" },
      ]
      await expectRefusal(engine.store.commit([...written, refused]), "version_conflict")
      expect(await engine.store.task(details.id)).toBeUndefined()
      expect(await engine.store.task(ended.id)).toEqual(ended)
      expect(await engine.store.run(ended.id, 2)).toBeUndefined()
      expect(await engine.store.notices({ taskId: ended.id }, 10)).toMatchObject([{ state: "pending" }])
      expect(await engine.store.session(session)).toMatchObject({ version: 1, messageCount: 0 })
      expect(await engine.store.leases("k")).toEqual([])
      await engine.store.commit(written)
      expect(await engine.store.task(ended.id)).toMatchObject({ run: 2, status: "queued" })
    })

    test("that is refused leaves a task as the next commit expects it", async ({ engine }) => {
      const { id } = await createTask(engine, RUNNING)
      const run = { taskId: id, run: 1, fence: 1 }
      await expectRefusal(
        engine.store.commit([
          { op: "task.apply", run, event: { type: "task.released", reason: "shutdown" } },
          { op: "task.apply", run, event: COMPLETED },
        ]),
        "wrong_state",
      )
      expect(await applyEvents(engine, id, COMPLETED)).toMatchObject({ status: "completed", lastSequence: 3 })
    })

    test("one writer's error fails that writer alone", async ({ engine }) => {
      const tasks = await Promise.all(Array.from({ length: 20 }, () => createTask(engine, RUNNING)))
      const writes = await Promise.allSettled(
        tasks.map(({ id, fence }, index) =>
          engine.store.commit([
            {
              op: "task.apply",
              run: { taskId: id, run: 1, fence: index % 4 === 0 ? fence + 1 : fence },
              event: COMPLETED,
            },
          ]),
        ),
      )
      for (const [index, { status }] of writes.entries())
        expect(status).toBe(index % 4 === 0 ? "rejected" : "fulfilled")
      expect(await engine.store.countTasks({ statuses: ["completed"] })).toBe(15)
      expect(await engine.store.countTasks({ statuses: ["running"] })).toBe(5)
    })

    test("is seen by every read that begins after its answer, here and in another process", async ({
      engine,
      another,
    }) => {
      const other = await another()
      const { id } = await createTask(engine, RUNNING)
      for (const [one, two] of [
        [engine, other],
        [other, engine],
      ] as const) {
        const progress = { done: 1, total: 1, phase: one === engine ? "a" : "b", line: null }
        const facts = [{ type: "task.progressed", progress }] as const
        await one.store.commit([{ op: "task.note", run: { taskId: id, run: 1 }, facts }])
        expect(await two.store.task(id)).toMatchObject({ progress })
        expect(await two.store.events(id, 0, 100)).toHaveLength((await one.store.task(id))?.lastSequence ?? 0)
      }
    })

    test("of two engines that write at once loses nothing", async ({ engine, another }) => {
      const engines = [engine, await another()]
      const tasks = await Promise.all(
        Array.from({ length: 60 }, async (_, index) => {
          const own = engines[index % 2] ?? engine
          const foreign = engines[(index + 1) % 2] ?? engine
          const { id } = await createTask(own, RUNNING)
          return applyEvents(foreign, id, COMPLETED)
        }),
      )
      for (const task of tasks) expect(await engine.store.task(task.id)).toEqual(task)
      expect(await engine.store.countTasks({ statuses: ["completed"] })).toBe(60)
      expect(await engine.store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
    })

    test("after closing is refused, and closing waits for earlier commits", async ({ engine, reopen }) => {
      const details = sampleDetails()
      const written = engine.store.commit([{ op: "task.create", details, entry: QUEUED }])
      const closed = engine.close()
      await expectRefusal(engine.store.commit([]), "closed")
      await written
      await closed
      await engine.close()
      await expectRefusal(engine.store.task(details.id), "closed")
      expect(await (await reopen()).store.task(details.id)).toMatchObject({ status: "queued" })
    })

    test("survives closing and opening, with everything that belongs to it", async ({ engine, reopen }) => {
      const ended = await createEndedTask(engine)
      const events = await engine.store.events(ended.id, 0, 10)
      const { store } = await reopen()
      expect(await store.task(ended.id)).toEqual(ended)
      expect(await store.events(ended.id, 0, 10)).toEqual(events)
      expect(await store.notices({ taskId: ended.id }, 10)).toHaveLength(1)
      expect(await store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
    })
  })
}
