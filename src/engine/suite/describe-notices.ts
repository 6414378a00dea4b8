import { describe, expect } from "vitest"
import { createSessionId, createTaskId } from "../../task/id.ts"
import {
  applyEvents,
  CANCELLED,
  createClaimant,
  createEndedTask,
  createTask,
  FAILED,
  RUNNING,
  sampleWait,
  STARTED,
  toEndedNotice,
} from "./samples.ts"
import type { EngineTest } from "./subject.ts"

export function describeNotices(test: EngineTest): void {
  describe("notices", () => {
    test("every run that ended leaves one, addressed to its session", async ({ engine }) => {
      const session = createSessionId()
      const ended = await createEndedTask(engine, { session, notify: "next_turn" })
      const expected = { ...toEndedNotice(ended), session, notify: "next_turn", state: "pending" }
      expect(await engine.store.notices({ session }, 10)).toMatchObject([expected])
      expect(await engine.store.notices({ taskId: ended.id }, 10)).toHaveLength(1)
      expect(await engine.store.notices({ session: createSessionId() }, 10)).toEqual([])
      expect(await engine.store.notices({ session: null }, 10)).toEqual([])
      expect(await engine.store.notices({ session, notify: ["wake", "silent"] }, 10)).toEqual([])
      expect(await engine.store.notices({ session, notify: ["wake", "next_turn"] }, 10)).toHaveLength(1)
      expect(await engine.store.notices({ workspace: ended.workspace, states: ["pending"] }, 10)).toHaveLength(1)
      expect(await engine.store.notices({ workspace: ended.workspace, states: ["consumed"] }, 10)).toEqual([])
    })

    test("each names the trace of its task, whatever becomes of it", async ({ engine }) => {
      const traceId = "0af7651916cd43dd8448eb211c80319c"
      const key = toEndedNotice(await createEndedTask(engine, { traceId }))
      const other = await createEndedTask(engine)
      const taskId = key.taskId
      expect(await engine.store.notices({ taskId }, 10)).toMatchObject([{ traceId, state: "pending" }])
      expect(await engine.store.notices({ taskId: other.id }, 10)).toMatchObject([{ traceId: null }])
      await engine.store.commit([{ op: "notice.consume", keys: [key], by: null }])
      expect(await engine.store.notices({ taskId }, 10)).toMatchObject([{ traceId, state: "consumed" }])
    })

    test("a turn leaves none", async ({ engine }) => {
      const { id } = await createEndedTask(engine, { kind: "turn", session: createSessionId() })
      expect(await engine.store.notices({ taskId: id }, 10)).toEqual([])
    })

    test("come oldest first and at most as many as asked for", async ({ engine }) => {
      const session = createSessionId()
      const ended = []
      for (let count = 0; count < 4; count++) ended.push(await createEndedTask(engine, { session }))
      const found = await engine.store.notices({ session, states: ["pending"] }, 3)
      expect(found.map(({ taskId }) => taskId)).toEqual(ended.slice(0, 3).map(({ id }) => id))
    })

    test("are claimed by one of two steps", async ({ engine, another }) => {
      const other = await another()
      const key = toEndedNotice(await createEndedTask(engine))
      const [one, two] = [await createClaimant(engine), await createClaimant(engine)]
      const claims = await Promise.all([
        engine.store.commit([{ op: "notice.claim", keys: [key], by: one }]),
        other.store.commit([{ op: "notice.claim", keys: [key], by: two }]),
      ])
      expect(claims.flatMap(([keys]) => keys)).toEqual([key])
      const winner = claims[0][0].length === 1 ? one : two
      expect(await engine.store.notices({ taskId: key.taskId }, 1)).toMatchObject([
        { state: "claimed", claimedBy: winner },
      ])
      expect(await engine.store.commit([{ op: "notice.claim", keys: [key], by: winner }])).toEqual([[key]])
    })

    test("a claim dies with the claimant's run", async ({ engine }) => {
      const key = toEndedNotice(await createEndedTask(engine))
      const first = await createClaimant(engine)
      const second = await createClaimant(engine)
      await engine.store.commit([{ op: "notice.claim", keys: [key], by: first }])
      expect(await engine.store.commit([{ op: "notice.claim", keys: [key], by: second }])).toEqual([[]])
      await applyEvents(engine, first.taskId, FAILED)
      expect(await engine.store.commit([{ op: "notice.claim", keys: [key], by: second }])).toEqual([[key]])
    })

    test("a claim dies when the claimant's task begins another run or is removed", async ({ engine }) => {
      const key = toEndedNotice(await createEndedTask(engine))
      const [first, second, third] = [
        await createClaimant(engine),
        await createClaimant(engine),
        await createClaimant(engine),
      ]
      await engine.store.commit([{ op: "notice.claim", keys: [key], by: first }])
      await applyEvents(engine, first.taskId, FAILED)
      await engine.store.commit([{ op: "task.begin_run", taskId: first.taskId, afterRun: 1, reason: "retry" }])
      expect(await engine.store.commit([{ op: "notice.claim", keys: [key], by: second }])).toEqual([[key]])
      await applyEvents(engine, second.taskId, FAILED)
      await engine.store.commit([{ op: "task.remove", taskId: second.taskId }])
      expect(await engine.store.commit([{ op: "notice.claim", keys: [key], by: third }])).toEqual([[key]])
    })

    test("a released claim is pending again, and only its holder releases it", async ({ engine }) => {
      const key = toEndedNotice(await createEndedTask(engine))
      const holder = await createClaimant(engine)
      const other = await createClaimant(engine)
      await engine.store.commit([{ op: "notice.claim", keys: [key], by: holder }])
      expect(await engine.store.commit([{ op: "notice.release", keys: [key], by: other }])).toEqual([[]])
      expect(await engine.store.commit([{ op: "notice.release", keys: [key], by: holder }])).toEqual([[key]])
      expect(await engine.store.notices({ taskId: key.taskId }, 1)).toMatchObject([{ state: "pending" }])
    })

    test("are consumed once, by their claimant or by an acknowledgement", async ({ engine }) => {
      const one = toEndedNotice(await createEndedTask(engine))
      const two = toEndedNotice(await createEndedTask(engine))
      const holder = await createClaimant(engine)
      await engine.store.commit([{ op: "notice.claim", keys: [one], by: holder }])
      expect(await engine.store.commit([{ op: "notice.consume", keys: [one, two], by: null }])).toEqual([[two]])
      expect(await engine.store.commit([{ op: "notice.consume", keys: [one, two], by: holder }])).toEqual([[one]])
      expect(await engine.store.commit([{ op: "notice.consume", keys: [one, two], by: holder }])).toEqual([[]])
      expect(await engine.store.commit([{ op: "notice.claim", keys: [one, two], by: holder }])).toEqual([[]])
      const { workspace } = await createTask(engine)
      expect(await engine.store.notices({ workspace, states: ["consumed"] }, 9)).toHaveLength(2)
    })

    test("a key that names nothing is not among the keys in the answer", async ({ engine }) => {
      const key = { taskId: createTaskId(), run: 1, kind: "ended" } as const
      const by = await createClaimant(engine)
      expect(await engine.store.commit([{ op: "notice.claim", keys: [key], by }])).toEqual([[]])
      expect(await engine.store.commit([{ op: "notice.consume", keys: [key], by: null }])).toEqual([[]])
    })

    test("a claimed notice is superseded when the next run begins", async ({ engine }) => {
      const ended = await createEndedTask(engine)
      const by = await createClaimant(engine)
      await engine.store.commit([{ op: "notice.claim", keys: [toEndedNotice(ended)], by }])
      await engine.store.commit([{ op: "task.begin_run", taskId: ended.id, afterRun: 1, reason: "resume" }])
      expect(await engine.store.commit([{ op: "notice.consume", keys: [toEndedNotice(ended)], by }])).toEqual([[]])
      expect(await engine.store.notices({ taskId: ended.id }, 9)).toMatchObject([{ state: "superseded" }])
    })

    test("a consumed notice stays consumed when the next run begins", async ({ engine }) => {
      const ended = await createEndedTask(engine)
      await engine.store.commit([{ op: "notice.consume", keys: [toEndedNotice(ended)], by: null }])
      await engine.store.commit([{ op: "task.begin_run", taskId: ended.id, afterRun: 1, reason: "resume" }])
      expect(await engine.store.notices({ taskId: ended.id }, 9)).toMatchObject([{ state: "consumed" }])
    })

    test("a wait that a person can answer leaves a notice, until it is answered or its run ends", async ({
      engine,
    }) => {
      const session = createSessionId()
      const { id } = await createTask(engine, RUNNING, { kind: "agent", session })
      const wait = sampleWait({ reason: "person" })
      await applyEvents(engine, id, { type: "task.waited", wait })
      const pending = () => engine.store.notices({ session, states: ["pending"] }, 9)
      expect(await pending()).toMatchObject([{ taskId: id, run: 1, kind: "needs_answer" }])
      await engine.store.commit([{ op: "wait.answer", waitId: wait.id, answer: "yes", answeredBy: "me" }])
      expect(await pending()).toEqual([])
      await applyEvents(engine, id, STARTED, { type: "task.waited", wait: sampleWait({ reason: "approval" }) })
      expect(await pending()).toMatchObject([{ kind: "needs_answer" }])
      await applyEvents(engine, id, CANCELLED)
      expect(await pending()).toMatchObject([{ kind: "ended" }])
      await applyEvents(engine, (await createTask(engine, RUNNING, { session })).id, {
        type: "task.waited",
        wait: sampleWait({ reason: "time" }),
      })
      expect(await pending()).toHaveLength(1)
    })
  })
}
