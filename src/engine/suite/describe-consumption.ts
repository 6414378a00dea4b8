import { describe, expect } from "vitest"
import { applyEvents, COMPLETED, createEndedTask, STARTED, toEndedNotice } from "./samples.ts"
import type { EngineTest } from "./subject.ts"

export function describeConsumption(test: EngineTest): void {
  describe("consumption of a task", () => {
    test("isConsumed follows its notices", async ({ engine }) => {
      const task = await createEndedTask(engine)
      const consumed = async () => (await engine.store.tasks({ isConsumed: true }, { limit: 9 })).items.length
      expect(await consumed()).toBe(0)
      await engine.store.commit([{ op: "notice.consume", keys: [toEndedNotice(task)], by: null }])
      expect(await consumed()).toBe(1)
      await engine.store.commit([{ op: "task.begin_run", taskId: task.id, afterRun: 1, reason: "resume" }])
      await applyEvents(engine, task.id, STARTED, COMPLETED)
      expect(await consumed()).toBe(0)
      expect(await engine.store.countTasks({ isConsumed: false })).toBe(1)
    })

    test("consumedBefore finds tasks used before that time, turns included, longest ago first", async ({ engine }) => {
      const unused = await createEndedTask(engine)
      const turn = await createEndedTask(engine, { kind: "turn" })
      const used = [await createEndedTask(engine), await createEndedTask(engine)]
      for (const task of used.toReversed())
        await engine.store.commit([{ op: "notice.consume", keys: [toEndedNotice(task)], by: null }])
      const later = { consumedBefore: Number.MAX_SAFE_INTEGER }
      const { items } = await engine.store.tasks({ ...later, isStripped: false }, { limit: 9 })
      expect(new Set(items.map(({ id }) => id))).toEqual(new Set([turn.id, ...used.map(({ id }) => id)]))
      expect(items[0]?.id).toBe(turn.id)
      expect(items.map(({ id }) => id)).not.toContain(unused.id)
      expect(await engine.store.countTasks({ consumedBefore: 1 })).toBe(0)
      await engine.store.commit([{ op: "task.strip", taskId: turn.id }])
      expect(await engine.store.countTasks({ ...later, isStripped: false })).toBe(2)
      expect(await engine.store.countTasks({ ...later, isStripped: true, session: null })).toBe(1)
      expect(await engine.store.countTasks({ ...later, session: null })).toBe(3)
    })
  })
}
