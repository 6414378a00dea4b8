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
  sampleWait,
  STARTED,
  toEndedNotice,
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

    test("every terminal status keeps what it says", async ({ engine }) => {
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

  describe("noting facts", () => {
    test("keeps progress, adds up usage and remembers the first retrieval", async ({ engine }) => {
      const { id, fence } = await createTask(engine, RUNNING)
      const run = { taskId: id, run: 1, fence }
      const progress = { done: 3, total: null, phase: "copy", line: "file" }
      const usage = { tokens: 10, costMicros: 4 }
      const [noted] = await engine.store.commit([
        {
          op: "task.note",
          run,
          facts: [
            { type: "task.progressed", progress },
            { type: "task.spent", usage },
          ],
        },
      ])
      expect(noted).toEqual({ lastSequence: 4, usage })
      await engine.store.commit([{ op: "task.note", run, facts: [{ type: "task.spent", usage }] }])
      const retrieved = { op: "task.note", run: { taskId: id, run: 1 }, facts: [{ type: "task.retrieved" }] } as const
      await engine.store.commit([retrieved])
      const first = await engine.store.task(id)
      await engine.store.commit([retrieved])
      expect(await engine.store.task(id)).toMatchObject({
        progress,
        usage: { tokens: 20, costMicros: 8 },
        retrievedAt: first?.retrievedAt,
        lastSequence: 7,
      })
    })

    test("of a stopped run that finished late keeps its result readable", async ({ engine }) => {
      const { id, fence } = await createTask(engine, RUNNING)
      await applyEvents(engine, id, { type: "task.stop_requested", by: "person", reason: "" }, CANCELLED)
      const late = { type: "task.finished_late", patch: PATCH } as const
      await expectRefusal(
        engine.store.commit([{ op: "task.note", run: { taskId: id, run: 1, fence }, facts: [late] }]),
        "stale_claim",
      )
      await engine.store.commit([{ op: "task.note", run: { taskId: id, run: 1 }, facts: [late] }])
      expect(await engine.store.task(id)).toMatchObject({ status: "cancelled", patch: PATCH })
    })

    test("of an earlier run belongs to that run, but its usage to the task", async ({ engine }) => {
      const { id } = await createTask(engine)
      await applyEvents(engine, id, CANCELLED)
      await engine.store.commit([{ op: "task.begin_run", taskId: id, afterRun: 1, reason: "retry" }])
      await engine.store.commit([
        {
          op: "task.note",
          run: { taskId: id, run: 1 },
          facts: [
            { type: "task.finished_late", patch: PATCH },
            { type: "task.spent", usage: { tokens: 1, costMicros: 1 } },
          ],
        },
      ])
      expect(await engine.store.run(id, 1)).toMatchObject({ status: "cancelled", patch: PATCH })
      expect(await engine.store.task(id)).toMatchObject({ status: "queued", usage: { tokens: 1, costMicros: 1 } })
    })

    test("of a run that was never begun is refused", async ({ engine }) => {
      const { id } = await createTask(engine)
      await expectRefusal(
        engine.store.commit([{ op: "task.note", run: { taskId: id, run: 2 }, facts: [] }]),
        "not_found",
      )
    })
  })

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

    test("resumes with another input and counts", async ({ engine }) => {
      const { id } = await createEndedTask(engine)
      const worker = createWorkerId()
      const [begun] = await engine.store.commit([
        { op: "task.begin_run", taskId: id, afterRun: 1, reason: "resume", input: "go on", inputHeldBy: worker },
      ])
      expect(begun).toMatchObject({ input: "go on", inputHeldBy: worker, resumeCount: 1 })
      expect(await engine.store.task(id)).toEqual(begun)
      expect(await engine.store.run(id, 1)).toMatchObject({ input: { command: "npm test" }, patch: PATCH })
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

    test("is refused when retention took the input, unless another is given", async ({ engine }) => {
      const { id } = await createEndedTask(engine)
      const begin = { op: "task.begin_run", taskId: id, afterRun: 1, reason: "resume" } as const
      await engine.store.commit([{ op: "task.strip", taskId: id }])
      await expectRefusal(engine.store.commit([begin]), "wrong_state")
      const [begun] = await engine.store.commit([{ ...begin, input: "anew" }])
      expect(begun).toMatchObject({ input: "anew", strippedAt: null })
    })
  })

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
  })
}
