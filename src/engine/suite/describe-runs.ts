import { describe, expect } from "vitest"
import type { LifecycleEvent } from "../../task/event.ts"
import { createTaskId, createWorkerId } from "../../task/id.ts"
import {
  applyEvents,
  CANCELLED,
  COMPLETED,
  createEndedTask,
  createTask,
  FAILED,
  FAILURE,
  PATCH,
  QUEUED,
  RUNNING,
  sampleDetails,
  STARTED,
  WORKER,
} from "./samples.ts"
import { type EngineTest, expectRefusal } from "./subject.ts"

export function describeRuns(test: EngineTest): void {
  describe("moving a run", () => {
    test("a queued run is claimed, runs and completes", async ({ engine, reopen }) => {
      const { id } = await createTask(engine)
      expect(await applyEvents(engine, id, STARTED)).toMatchObject({ status: "running", worker: WORKER, fence: 1 })
      const task = await applyEvents(engine, id, COMPLETED)
      expect(task).toMatchObject({ status: "completed", patch: PATCH, lastSequence: 3 })
      expect(task).not.toHaveProperty("worker")
      expect(await (await reopen()).store.task(id)).toEqual(task)
    })

    test("a write decided on an earlier version of the task is refused", async ({ engine }) => {
      const { id, lastSequence } = await createTask(engine, RUNNING)
      const run = { taskId: id, run: 1, fence: 1 }
      const decided = { op: "task.apply", run, event: COMPLETED, lastSequence } as const
      await engine.store.commit([{ op: "step.start", run, key: "late", onCrash: "retry" }])
      await expectRefusal(engine.store.commit([decided]), "stale_claim")
      expect(await engine.store.commit([{ ...decided, lastSequence: lastSequence + 1 }])).toMatchObject([
        { status: "completed" },
      ])
    })

    test("every terminal status keeps its own fields", async ({ engine }) => {
      const stop: LifecycleEvent = { type: "task.stop_requested", by: "deadline", reason: "5 min" }
      const survivors = [{ pid: 7, command: "sleep 9" }]
      const ends: [string, LifecycleEvent[], object][] = [
        ["failed", [FAILED], { failure: FAILURE, patch: null }],
        ["failed", [{ type: "task.failed", failure: FAILURE, patch: PATCH }], { patch: PATCH }],
        [
          "interrupted",
          [{ type: "task.interrupted", by: "lost_worker", failure: FAILURE }],
          { by: "lost_worker", failure: FAILURE },
        ],
        [
          "timed_out",
          [stop, { type: "task.timed_out", by: "deadline", reason: "ignored", survivors, late: PATCH }],
          { survivors, patch: PATCH, stop: { by: "deadline", reason: "5 min" } },
        ],
        [
          "cancelled",
          [
            { type: "task.stop_requested", by: "person", reason: "enough" },
            { type: "task.cancelled", by: "person", reason: "", survivors: "unknown", late: null },
          ],
          { survivors: "unknown", patch: null, stop: { by: "person", reason: "enough" } },
        ],
      ]
      for (const [status, events, rest] of ends) {
        const { id } = await createTask(engine, RUNNING)
        const task = await applyEvents(engine, id, ...events)
        expect(task).toMatchObject({ status, ...rest })
        expect(await engine.store.task(id)).toEqual(task)
      }
    })

    test("a terminal status is never left, and its first event wins", async ({ engine }) => {
      const { id } = await createTask(engine)
      await applyEvents(engine, id, CANCELLED)
      for (const event of [COMPLETED, FAILED, STARTED, CANCELLED])
        await expectRefusal(
          engine.store.commit([{ op: "task.apply", run: { taskId: id, run: 1 }, event }]),
          "wrong_state",
        )
      expect(await engine.store.task(id)).toMatchObject({ status: "cancelled", lastSequence: 2 })
    })

    test("only one of two claims of a queued run succeeds", async ({ engine, another }) => {
      const other = await another()
      const { id } = await createTask(engine)
      const run = { taskId: id, run: 1 }
      const claims = await Promise.allSettled(
        [engine, other, engine, other].map(({ store }) =>
          store.commit([{ op: "task.apply", run, event: { type: "task.started", worker: createWorkerId() } }]),
        ),
      )
      expect(claims.filter(({ status }) => status === "fulfilled")).toHaveLength(1)
      expect(await engine.store.task(id)).toMatchObject({ status: "running", fence: 1 })
    })

    test("a write for another run is refused as wrong_state", async ({ engine }) => {
      const { id } = await createTask(engine, RUNNING)
      const run = { taskId: id, run: 2 }
      await expectRefusal(engine.store.commit([{ op: "task.apply", run, event: COMPLETED }]), "wrong_state")
    })

    test("a write under an old fence is refused as stale_claim", async ({ engine }) => {
      const { id, fence } = await createTask(engine, RUNNING)
      const released = await applyEvents(engine, id, { type: "task.released", reason: "lost_worker" }, STARTED)
      expect(released.fence).toBe(fence + 1)
      const run = { taskId: id, run: 1, fence }
      await expectRefusal(engine.store.commit([{ op: "task.apply", run, event: COMPLETED }]), "stale_claim")
      await expectRefusal(engine.store.commit([{ op: "task.note", run, facts: [] }]), "stale_claim")
      await expectRefusal(engine.store.commit([{ op: "step.start", run, key: "a", onCrash: "fail" }]), "stale_claim")
      await expectRefusal(engine.store.commit([{ op: "step.finish", run, key: "a", result: 1 }]), "stale_claim")
    })

    test("what is written for a call below a run is refused with it, once another worker has the run", async ({
      engine,
    }) => {
      const { id, fence } = await createTask(engine, RUNNING, { kind: "turn" })
      const below = await createTask(engine, RUNNING, { parentTask: id })
      const check = { op: "claim.check", run: { taskId: id, run: 1, fence } } as const
      const end = { op: "call.end", children: [below.id], parentTask: id, session: null, stoppedFor: "lost" } as const
      const details = sampleDetails({ parentTask: id })
      await engine.store.commit([check, { op: "task.create", details, entry: QUEUED }])
      expect((await engine.store.task(details.id))?.status).toBe("queued")
      const released = { type: "task.released", reason: "lost_worker" } as const
      for (const events of [[released], [STARTED]]) {
        await applyEvents(engine, id, ...events)
        await expectRefusal(engine.store.commit([check, end]), "stale_claim")
        const create = { op: "task.create", details: sampleDetails({ parentTask: id }), entry: RUNNING } as const
        await expectRefusal(engine.store.commit([check, create]), "stale_claim")
        expect(await engine.store.task(create.details.id)).toBeUndefined()
        expect((await engine.store.task(below.id))?.status).toBe("running")
      }
      await engine.store.commit([{ ...check, run: { ...check.run, fence: fence + 1 } }, end])
      expect((await engine.store.task(below.id))?.status).toBe("stopping")
    })

    test("what is written for a call below a run is refused with it, once the run has ended and its task is gone", async ({
      engine,
    }) => {
      const { id, fence } = await createTask(engine, RUNNING)
      const check = { op: "claim.check", run: { taskId: id, run: 1, fence } } as const
      await applyEvents(engine, id, COMPLETED)
      await expectRefusal(engine.store.commit([check]), "stale_claim")
      await engine.store.commit([{ op: "task.remove", taskId: id }])
      await expectRefusal(engine.store.commit([check]), "stale_claim")
    })

    test("a worker whose run was handed back is fenced before anyone claims it again", async ({ engine }) => {
      const { id, fence } = await createTask(engine, RUNNING)
      await applyEvents(engine, id, { type: "task.released", reason: "lost_worker" })
      const run = { taskId: id, run: 1, fence }
      await expectRefusal(engine.store.commit([{ op: "step.finish", run, key: "a", result: 1 }]), "stale_claim")
      await expectRefusal(engine.store.commit([{ op: "task.note", run, facts: [] }]), "stale_claim")
    })

    test("an unknown task is refused as not_found", async ({ engine }) => {
      const run = { taskId: createTaskId(), run: 1 }
      await expectRefusal(engine.store.commit([{ op: "task.apply", run, event: COMPLETED }]), "not_found")
      await expectRefusal(engine.store.commit([{ op: "task.note", run, facts: [] }]), "not_found")
      await expectRefusal(
        engine.store.commit([{ op: "task.prioritize", taskId: run.taskId, priority: 1 }]),
        "not_found",
      )
      await expectRefusal(engine.store.commit([{ op: "task.strip", taskId: run.taskId }]), "not_found")
      await expectRefusal(engine.store.commit([{ op: "task.remove", taskId: run.taskId }]), "not_found")
    })

    test("the patch is on the record and not repeated in the log", async ({ engine }) => {
      const { id } = await createEndedTask(engine)
      const last = (await engine.store.events(id, 2, 10)).at(0)
      expect(last?.body).toEqual({ type: "task.completed", digest: PATCH.digest })
    })
  })
}
