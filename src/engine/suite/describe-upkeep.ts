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
