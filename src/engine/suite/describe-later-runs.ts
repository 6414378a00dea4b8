import { describe, expect } from "vitest"
import { createTaskId, createWorkerId } from "../../task/id.ts"
import {
  applyEvents,
  COMPLETED,
  createEndedTask,
  createTask,
  FAILED,
  PATCH,
  RUNNING,
  sampleWait,
  STARTED,
  toEndedNotice,
} from "./samples.ts"
import { type EngineTest, expectRefusal } from "./subject.ts"

export function describeLaterRuns(test: EngineTest): void {
  describe("beginning another run", () => {
    test("retries with the same input, supersedes the notice and keeps the earlier run readable", async ({
      engine,
    }) => {
      const { id } = await createTask(engine, RUNNING)
      const failed = await applyEvents(engine, id, FAILED)
      const [begun] = await engine.store.commit([{ op: "task.begin_run", taskId: id, afterRun: 1, reason: "retry" }])
      expect(begun).toMatchObject({
        status: "queued",
        run: 2,
        resumeCount: 0,
        startedAt: null,
        ranMs: 0,
        lastSequence: 4,
      })
      expect(begun.fence).toBeGreaterThanOrEqual(failed.fence)
      expect(begun).not.toHaveProperty("failure")
      expect(await engine.store.task(id)).toEqual(begun)
      expect(await engine.store.run(id, 1)).toEqual(failed)
      expect(await engine.store.run(id, 2)).toEqual(begun)
      expect(await engine.store.run(id, 3)).toBeUndefined()
      expect(await engine.store.notices({ taskId: id }, 10)).toMatchObject([{ run: 1, state: "superseded" }])
      const second = await applyEvents(engine, id, STARTED, COMPLETED)
      expect(second).toMatchObject({ status: "completed", run: 2 })
      expect(await engine.store.notices({ taskId: id, states: ["pending"] }, 10)).toMatchObject([toEndedNotice(second)])
    })

    test("begins with a question, and is offered once that is answered", async ({ engine }) => {
      const { id } = await createTask(engine, RUNNING)
      const failed = await applyEvents(engine, id, FAILED)
      const wait = sampleWait({ reason: "approval" })
      const begin = { op: "task.begin_run", taskId: id, afterRun: 1, reason: "retry", wait } as const
      const [begun] = await engine.store.commit([begin])
      expect(begun).toMatchObject({ status: "waiting", wait, run: 2, lastSequence: failed.lastSequence + 2 })
      expect(await engine.store.task(id)).toEqual(begun)
      const events = await engine.store.events(id, failed.lastSequence, 10)
      expect(events.map(({ body }) => body.type)).toEqual(["task.queued", "task.waited"])
      expect(await engine.store.notices({ taskId: id, states: ["pending"] }, 10)).toMatchObject([
        { kind: "needs_answer", run: 2 },
      ])
      expect(await engine.store.placeInQueue(id)).toBeUndefined()
      const [answered] = await engine.store.commit([
        { op: "wait.answer", waitId: wait.id, answer: true, answeredBy: "somebody" },
      ])
      expect(answered).toMatchObject({ status: "queued", run: 2 })
      expect(await applyEvents(engine, id, STARTED, COMPLETED)).toMatchObject({ status: "completed", run: 2 })
    })

    test("resumes with another input, title and folder, and counts the resume", async ({ engine }) => {
      const { id, title } = await createEndedTask(engine)
      const begin = { op: "task.begin_run", taskId: id, afterRun: 1, reason: "resume" } as const
      const another = { title: "on", folder: "/there", input: "go on", inputHeldBy: createWorkerId() }
      const [begun] = await engine.store.commit([{ ...begin, ...another }])
      expect(begun).toMatchObject({ ...another, resumeCount: 1 })
      expect(await engine.store.task(id)).toEqual(begun)
      expect((await engine.store.tasks({}, { limit: 1 })).items).toMatchObject([{ id, title: "on", folder: "/there" }])
      expect(await engine.store.run(id, 1)).toMatchObject({ title, input: { command: "npm test" }, patch: PATCH })
    })

    test("replaces the metadata if some are given, and leaves those of the earlier run", async ({ engine }) => {
      const { id } = await createTask(engine, RUNNING)
      await applyEvents(engine, id, FAILED)
      const begin = { op: "task.begin_run", taskId: id, reason: "retry" } as const
      const [begun] = await engine.store.commit([{ ...begin, afterRun: 1, metadata: { hops: 1 } }])
      expect(begun).toMatchObject({ input: { command: "npm test" }, metadata: { hops: 1 } })
      expect(await engine.store.task(id)).toEqual(begun)
      expect(await engine.store.run(id, 1)).toMatchObject({ metadata: { owner: "suite" } })
      await applyEvents(engine, id, STARTED, FAILED)
      const [again] = await engine.store.commit([{ ...begin, afterRun: 2 }])
      expect(again.metadata).toEqual({ hops: 1 })
    })

    test("is refused while the run lives, for another run, and twice", async ({ engine }) => {
      const { id } = await createTask(engine, RUNNING)
      const begin = { op: "task.begin_run", taskId: id, afterRun: 1, reason: "retry" } as const
      await expectRefusal(engine.store.commit([begin]), "wrong_state")
      await applyEvents(engine, id, FAILED)
      await expectRefusal(engine.store.commit([{ ...begin, afterRun: 2 }]), "wrong_state")
      const both = await Promise.allSettled([engine.store.commit([begin]), engine.store.commit([begin])])
      expect(both.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"])
      await expectRefusal(engine.store.commit([{ ...begin, taskId: createTaskId() }]), "not_found")
    })

    test("is refused when the input was stripped, unless another is given", async ({ engine }) => {
      const { id } = await createEndedTask(engine)
      const begin = { op: "task.begin_run", taskId: id, afterRun: 1, reason: "resume" } as const
      await engine.store.commit([{ op: "task.strip", taskId: id }])
      await expectRefusal(engine.store.commit([begin]), "wrong_state")
      const [begun] = await engine.store.commit([{ ...begin, input: "anew" }])
      expect(begun).toMatchObject({ input: "anew", strippedAt: null })
    })
  })
}
