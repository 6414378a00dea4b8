import { describe, expect } from "vitest"
import { createWaitId, type WorkspaceId } from "../../task/id.ts"
import { applyEvents, CANCELLED, createTask, RUNNING, sampleWait, STARTED } from "./samples.ts"
import { type EngineTest, expectRefusal } from "./subject.ts"

export function describeWaits(test: EngineTest): void {
  describe("waits", () => {
    test("an answer closes the wait and puts its run back in the queue", async ({ engine }) => {
      const { id } = await createTask(engine, RUNNING, { kind: "agent" })
      const wait = sampleWait({ expiresAt: 9_999, onExpiry: { default: true } })
      const waiting = await applyEvents(engine, id, { type: "task.waited", wait })
      expect(waiting).toMatchObject({ status: "waiting", wait })
      const [task] = await engine.store.commit([
        { op: "wait.answer", waitId: wait.id, answer: { yes: true }, answeredBy: "person" },
      ])
      expect(task).toMatchObject({ status: "queued", run: 1, lastSequence: 4 })
      expect(await engine.store.wait(wait.id)).toMatchObject({
        ...wait,
        state: "answered",
        answer: { yes: true },
        answeredBy: "person",
      })
      expect(await applyEvents(engine, id, STARTED)).toMatchObject({ status: "running", fence: 2 })
    })

    test("only the first of two answers is used", async ({ engine, another }) => {
      const other = await another()
      const wait = sampleWait()
      await createTask(engine, { as: "waiting", wait })
      const answers = await Promise.allSettled(
        [engine, other].map(({ store }, index) =>
          store.commit([{ op: "wait.answer", waitId: wait.id, answer: index, answeredBy: "person" }]),
        ),
      )
      expect(answers.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"])
      await expectRefusal(
        engine.store.commit([{ op: "wait.answer", waitId: wait.id, answer: "late", answeredBy: "person" }]),
        "wrong_state",
      )
      const winner = answers.findIndex(({ status }) => status === "fulfilled")
      expect(await engine.store.wait(wait.id)).toMatchObject({ answer: winner })
    })

    test("a wait is withdrawn when its run ends first", async ({ engine }) => {
      const wait = sampleWait()
      const { id } = await createTask(engine, { as: "waiting", wait })
      await applyEvents(engine, id, CANCELLED)
      expect(await engine.store.wait(wait.id)).toMatchObject({ state: "withdrawn" })
      await expectRefusal(
        engine.store.commit([{ op: "wait.answer", waitId: wait.id, answer: 1, answeredBy: "person" }]),
        "wrong_state",
      )
    })

    test("an unknown wait is refused as not_found", async ({ engine }) => {
      expect(await engine.store.wait(createWaitId())).toBeUndefined()
      await expectRefusal(
        engine.store.commit([{ op: "wait.answer", waitId: createWaitId(), answer: 1, answeredBy: "person" }]),
        "not_found",
      )
    })

    test("a wait cannot be passed by without an answer", async ({ engine }) => {
      const wait = sampleWait()
      const { id } = await createTask(engine, { as: "waiting", wait })
      const event = { type: "task.answered", waitId: wait.id } as const
      await expectRefusal(
        engine.store.commit([{ op: "task.apply", run: { taskId: id, run: 1 }, event }]),
        "invalid_input",
      )
    })

    test("are found by task, by workspace and by being open, oldest first", async ({ engine }) => {
      const [one, two] = [sampleWait(), sampleWait()]
      const first = await createTask(engine, { as: "waiting", wait: one })
      const second = await createTask(engine, { as: "waiting", wait: two })
      await createTask(engine, { as: "waiting", wait: sampleWait() }, { workspace: "other" as WorkspaceId })
      await engine.store.commit([{ op: "wait.answer", waitId: one.id, answer: null, answeredBy: "person" }])
      const ids = async (filter: Parameters<typeof engine.store.waits>[0]) =>
        (await engine.store.waits(filter)).map(({ id }) => id)
      const { workspace } = first
      expect(await ids({ workspace })).toEqual([one.id, two.id])
      expect(await ids({ workspace, isOpen: true })).toEqual([two.id])
      expect(await ids({ workspace, isOpen: false })).toEqual([one.id])
      expect(await ids({ taskId: second.id })).toEqual([two.id])
      expect(await ids({ isOpen: true })).toHaveLength(2)
    })

    test("whose time to answer is over are found among all", async ({ engine }) => {
      const now = engine.now()
      const [over, later, never] = [now, now + 3_600_000, null].map((expiresAt) => sampleWait({ expiresAt }))
      for (const wait of [over, later, never]) if (wait) await createTask(engine, { as: "waiting", wait })
      expect(await engine.store.waits({ isOpen: true, expiresBy: now })).toMatchObject([{ id: over?.id }])
      expect(await engine.store.waits({ isOpen: false, expiresBy: now })).toEqual([])
    })
  })
}
