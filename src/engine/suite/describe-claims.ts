import { describe, expect } from "vitest"
import type { NoticeKey } from "../../task/notice.ts"
import { createClaimant, createEndedTask, toEndedNotice } from "./samples.ts"
import { type EngineTest, expectRefusal } from "./subject.ts"

export function describeClaims(test: EngineTest): void {
  describe("settling claims with a step", () => {
    test("a step's claims are used when its end settles them, and nothing else is", async ({ engine }) => {
      const keys = [toEndedNotice(await createEndedTask(engine)), toEndedNotice(await createEndedTask(engine))]
      const [own, free] = keys as [NoticeKey, NoticeKey]
      const elsewhere = toEndedNotice(await createEndedTask(engine))
      const holder = await createClaimant(engine)
      const { taskId } = holder
      const other = { ...holder, key: "step-2" }
      await engine.store.commit([
        { op: "notice.claim", keys: [own], by: holder },
        { op: "notice.claim", keys: [elsewhere], by: other },
      ])
      const finish = { op: "step.finish", run: { taskId, run: 1 }, key: "step-1", result: 1 } as const
      await engine.store.commit([finish])
      const stateOf = async (key: NoticeKey) => (await engine.store.notices({ taskId: key.taskId }, 1))[0]?.state
      expect(await stateOf(own)).toBe("claimed")
      expect(await engine.store.commit([{ ...finish, settlesClaims: true, result: 2 }])).toMatchObject([{ result: 1 }])
      expect(await Promise.all([own, free, elsewhere].map(stateOf))).toEqual(["consumed", "pending", "claimed"])
      expect(await engine.store.countTasks({ isConsumed: true, kinds: ["tool"] })).toBe(1)
      expect(await engine.store.commit([{ op: "notice.claim", keys: [own], by: other }])).toEqual([[]])
    })

    test("a claim is not settled by the step of another run, nor with a commit that is refused", async ({ engine }) => {
      const key = toEndedNotice(await createEndedTask(engine))
      const by = await createClaimant(engine)
      await engine.store.commit([{ op: "notice.claim", keys: [key], by }])
      const finish = { op: "step.finish", key: by.key, result: null, settlesClaims: true } as const
      const run = { taskId: by.taskId, run: 1 }
      await expectRefusal(engine.store.commit([{ ...finish, run: { ...run, run: 2 } }]), "wrong_state")
      const stale = { op: "task.note", run: { ...run, fence: 9 }, facts: [] } as const
      await expectRefusal(engine.store.commit([{ ...finish, run }, stale]), "stale_claim")
      expect(await engine.store.notices({ taskId: key.taskId }, 1)).toMatchObject([{ state: "claimed", claimedBy: by }])
      await engine.store.commit([{ op: "task.begin_run", taskId: key.taskId, afterRun: 1, reason: "resume" }])
      await engine.store.commit([{ ...finish, run }])
      expect(await engine.store.notices({ taskId: key.taskId }, 1)).toMatchObject([{ state: "superseded" }])
    })
  })
}
