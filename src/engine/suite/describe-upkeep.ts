import { describe, expect } from "vitest"
import {
  applyEvents,
  CANCELLED,
  COMPLETED,
  createEndedTask,
  createTask,
  PATCH,
  QUEUED,
  RUNNING,
  sampleWait,
  STARTED,
} from "./samples.ts"
import { type EngineTest, expectRefusal } from "./subject.ts"

export function describeUpkeep(test: EngineTest): void {
  describe("upkeep", () => {
    test("prioritizing moves a queued task forward and is refused once it ended", async ({ engine }) => {
      const first = await createTask(engine)
      const second = await createTask(engine)
      expect(await engine.store.placeInQueue(second.id)).toBe(2)
      const [task] = await engine.store.commit([{ op: "task.prioritize", taskId: second.id, priority: 5 }])
      expect(task.priority).toBe(5)
      expect(await engine.store.placeInQueue(second.id)).toBe(1)
      expect(await engine.store.placeInQueue(first.id)).toBe(2)
      await applyEvents(engine, second.id, CANCELLED)
      await expectRefusal(
        engine.store.commit([{ op: "task.prioritize", taskId: second.id, priority: 1 }]),
        "wrong_state",
      )
    })

    test("a changed time limit is on the record and in the log, and is refused once the run has ended", async ({
      engine,
    }) => {
      const { id } = await createTask(engine, RUNNING)
      const limit = (timeoutMs: number | null) => engine.store.commit([{ op: "task.limit", taskId: id, timeoutMs }])
      const [limited] = await limit(7_200_000)
      expect(limited.limits).toMatchObject({ timeoutMs: 7_200_000, tokens: null })
      expect(await engine.store.task(id)).toEqual(limited)
      const [same] = await limit(7_200_000)
      expect(same).toEqual(limited)
      const [unlimited] = await limit(null)
      expect(await engine.store.task(id)).toEqual(unlimited)
      expect((await engine.store.tasks({}, { limit: 1 })).items[0]?.limits.timeoutMs).toBeNull()
      expect((await engine.store.events(id, limited.lastSequence - 1, 10)).map(({ body }) => body)).toEqual([
        { type: "task.limited", timeoutMs: 7_200_000 },
        { type: "task.limited", timeoutMs: null },
      ])
      await applyEvents(engine, id, COMPLETED)
      await expectRefusal(limit(1), "wrong_state")
    })

    test("a stop by a time limit is refused if the task has another limit by now", async ({ engine }) => {
      const { id } = await createTask(engine, RUNNING)
      const run = { taskId: id, run: 1 }
      const stop = (limitMs: number) =>
        engine.store.commit([
          { op: "task.apply", run, event: { type: "task.stop_requested", by: "deadline", reason: "late", limitMs } },
        ])
      await engine.store.commit([{ op: "task.limit", taskId: id, timeoutMs: 600_000 }])
      await expectRefusal(stop(300_000), "wrong_state")
      expect((await engine.store.task(id))?.status).toBe("running")
      const [stopping] = await stop(600_000)
      expect(stopping).toMatchObject({ status: "stopping", stop: { by: "deadline", reason: "late" } })
    })

    test("stripping takes input and payload away and leaves status, times, digest and usage", async ({ engine }) => {
      const { id } = await createTask(engine, RUNNING, { input: { text: "x".repeat(5_000) } })
      const run = { taskId: id, run: 1 }
      await engine.store.commit([{ op: "step.finish", run, key: "a", result: "large" }])
      await engine.store.commit([
        { op: "task.note", run, facts: [{ type: "task.spent", usage: { tokens: 9, costMicros: 0 } }] },
      ])
      const ended = await applyEvents(engine, id, COMPLETED)
      const [stripped] = await engine.store.commit([{ op: "task.strip", taskId: id }])
      expect(stripped).toMatchObject({ status: "completed", input: null, usage: { tokens: 9 }, ranMs: ended.ranMs })
      expect(stripped).toMatchObject({ patch: { digest: PATCH.digest, payload: null } })
      expect(stripped.strippedAt).not.toBeNull()
      expect(await engine.store.task(id)).toEqual(stripped)
      expect(await engine.store.steps(id, 1)).toEqual([])
      expect((await engine.store.events(id, 0, 10)).map(({ sequence }) => sequence)).toEqual([ended.lastSequence])
      expect(await engine.store.commit([{ op: "task.strip", taskId: id }])).toEqual([stripped])
    })

    test("stripping reaches earlier runs", async ({ engine }) => {
      const { id } = await createEndedTask(engine)
      await engine.store.commit([{ op: "task.begin_run", taskId: id, afterRun: 1, reason: "retry" }])
      await applyEvents(engine, id, CANCELLED)
      await engine.store.commit([{ op: "task.strip", taskId: id }])
      expect(await engine.store.run(id, 1)).toMatchObject({ input: null, patch: { payload: null } })
    })

    test("removing leaves nothing of a task", async ({ engine }) => {
      const wait = sampleWait()
      const { id } = await createTask(engine, { as: "waiting", wait })
      const { workspace, run } = await applyEvents(engine, id, CANCELLED)
      await engine.store.commit([{ op: "task.begin_run", taskId: id, afterRun: 1, reason: "retry" }])
      await engine.store.commit([{ op: "step.finish", run: { taskId: id, run: run + 1 }, key: "a", result: 1 }])
      await applyEvents(engine, id, CANCELLED)
      const bytes = new TextEncoder().encode("bytes")
      const [hash] = await engine.store.commit([
        { op: "artifact.put", workspace, taskId: id, mediaType: "text/plain", bytes },
      ])
      await engine.store.commit([{ op: "task.remove", taskId: id }])
      expect(await engine.store.task(id)).toBeUndefined()
      expect(await engine.store.run(id, 1)).toBeUndefined()
      expect(await engine.store.events(id, 0, 10)).toEqual([])
      expect(await engine.store.steps(id, 2)).toEqual([])
      expect(await engine.store.notices({ taskId: id }, 10)).toEqual([])
      expect(await engine.store.notices({ workspace }, 10)).toEqual([])
      expect(await engine.store.wait(wait.id)).toBeUndefined()
      expect(await engine.store.artifact(workspace, hash)).toBeUndefined()
      expect(await engine.store.countTasks({})).toBe(0)
      expect(await engine.store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
    })

    test("stripping and removing are refused while the run lives", async ({ engine }) => {
      const { id } = await createTask(engine, QUEUED)
      await expectRefusal(engine.store.commit([{ op: "task.strip", taskId: id }]), "wrong_state")
      await expectRefusal(engine.store.commit([{ op: "task.remove", taskId: id }]), "wrong_state")
    })

    test("stripping and removing for a run are refused once a later run has ended", async ({ engine }) => {
      const { id } = await createEndedTask(engine)
      await engine.store.commit([{ op: "task.begin_run", taskId: id, afterRun: 1, reason: "retry" }])
      await applyEvents(engine, id, STARTED, COMPLETED)
      for (const op of ["task.strip", "task.remove"] as const) {
        await expectRefusal(engine.store.commit([{ op, taskId: id, run: 1 }]), "wrong_state")
      }
      expect(await engine.store.task(id)).toMatchObject({ run: 2, patch: PATCH })
      await engine.store.commit([{ op: "task.strip", taskId: id, run: 2 }])
      await engine.store.commit([{ op: "task.remove", taskId: id, run: 2 }])
      expect(await engine.store.task(id)).toBeUndefined()
    })
  })
}
