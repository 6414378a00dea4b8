import { describe, expect } from "vitest"
import type { LifecycleEvent } from "../../task/event.ts"
import { applyEvents, CANCELLED, createTask, PATCH, RUNNING } from "./samples.ts"
import { type EngineTest, expectRefusal } from "./subject.ts"

const TIMED_OUT: LifecycleEvent = {
  type: "task.timed_out",
  by: "deadline",
  reason: "too long",
  survivors: [],
  late: null,
}
const STOPPED = [
  { status: "cancelled", by: "person", stopped: CANCELLED },
  { status: "timed_out", by: "deadline", stopped: TIMED_OUT },
] as const

export function describeFacts(test: EngineTest): void {
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

    for (const { status, by, stopped } of STOPPED) {
      test(`of a run that is ${status} and finished late keeps its result readable`, async ({ engine }) => {
        const { id, fence } = await createTask(engine, RUNNING)
        await applyEvents(engine, id, { type: "task.stop_requested", by, reason: "" }, stopped)
        const late = { type: "task.finished_late", patch: PATCH } as const
        await expectRefusal(
          engine.store.commit([{ op: "task.note", run: { taskId: id, run: 1, fence }, facts: [late] }]),
          "stale_claim",
        )
        await engine.store.commit([{ op: "task.note", run: { taskId: id, run: 1 }, facts: [late] }])
        expect(await engine.store.task(id)).toMatchObject({ status, patch: PATCH })
      })
    }

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
}
