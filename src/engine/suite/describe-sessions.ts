import { describe, expect } from "vitest"
import { createSessionId, DEFAULT_WORKSPACE, type SessionId, type WorkspaceId } from "../../task/id.ts"
import { applyEvents, COMPLETED, createEndedTask, createSession, createTask, RUNNING, sampleGroup } from "./samples.ts"
import { type EngineTest, expectRefusal } from "./subject.ts"

const OTHER = "other" as WorkspaceId

const id = createSessionId

export function describeSessions(test: EngineTest): void {
  describe("sessions", () => {
    test("keep data and messages, and every change raises the version", async ({ engine, reopen }) => {
      const id = await createSession(engine)
      expect(await engine.store.session(id)).toMatchObject({ version: 1, messageCount: 0, data: { agent: "suite" } })
      const [one] = await engine.store.commit([
        { op: "session.update", id, expectedVersion: 1, messages: [{ role: "user" }, "two"] },
      ])
      expect(one).toMatchObject({ version: 2, messageCount: 2, data: { agent: "suite" } })
      const [two] = await engine.store.commit([
        { op: "session.update", id, expectedVersion: 2, data: { model: "x" }, messages: [null] },
      ])
      expect(two).toMatchObject({ version: 3, messageCount: 3, data: { model: "x" } })
      const { store } = await reopen()
      expect(await store.session(id)).toEqual(two)
      const messages = await store.messages(id, 0, 10)
      expect(messages.map(({ position, body }) => [position, body])).toEqual([
        [1, { role: "user" }],
        [2, "two"],
        [3, null],
      ])
      expect((await store.messages(id, 1, 1)).map(({ position }) => position)).toEqual([2])
    })

    test("do not show each other's messages, whatever the cursor says", async ({ engine }) => {
      const ids = [await createSession(engine), await createSession(engine), await createSession(engine)]
      for (const id of ids) {
        await engine.store.commit([{ op: "session.update", id, expectedVersion: 1, messages: [id] }])
      }
      for (const id of ids) {
        for (const cursor of [-1, -(2 ** 32), 2 ** 32, Number.MAX_SAFE_INTEGER]) {
          const found = await engine.store.messages(id, cursor, 10)
          expect(found.map(({ body }) => body)).toEqual(cursor < 0 ? [id] : [])
        }
      }
    })

    test("begin with the messages of another one, in the same places, and then go their own way", async ({
      engine,
    }) => {
      const { store } = engine
      const source = await createSession(engine)
      const messages = ["one", { two: 2 }, null, "four"]
      await store.commit([{ op: "session.update", id: source, expectedVersion: 1, messages }])
      const copy = { id: id(), workspace: DEFAULT_WORKSPACE, data: {}, messagesOf: { session: source, upTo: 3 } }
      const [made] = await store.commit([{ op: "session.create", ...copy }])
      expect(made).toMatchObject({ version: 1, messageCount: 3 })
      const stored = await store.messages(source, 0, 10)
      expect(await store.messages(copy.id, 0, 10)).toEqual(
        stored.slice(0, 3).map((one) => ({ ...one, session: copy.id })),
      )
      await store.commit([{ op: "session.update", id: copy.id, expectedVersion: 1, messages: ["five"] }])
      await store.commit([{ op: "session.delete", id: source }])
      const bodies = (await store.messages(copy.id, 0, 10)).map(({ position, body }) => [position, body])
      expect(bodies).toEqual([...messages.slice(0, 3).map((body, index) => [index + 1, body]), [4, "five"]])
      expect(await store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
    })

    test("copy what was written in the same commit, and nothing of another workspace or beyond the end", async ({
      engine,
    }) => {
      const { store } = engine
      const [source, copy] = [id(), id()]
      const workspace = DEFAULT_WORKSPACE
      const messagesOf = { session: source, upTo: 2 }
      await store.commit([
        { op: "session.create", id: source, workspace, data: {} },
        { op: "session.update", id: source, expectedVersion: 1, messages: ["one", "two", "three"] },
        { op: "session.create", id: copy, workspace, data: {}, messagesOf },
        { op: "session.delete", id: source },
      ])
      expect((await store.messages(copy, 0, 10)).map(({ body }) => body)).toEqual(["one", "two"])
      const create = { op: "session.create", id: id(), workspace, data: {} } as const
      const from = (session: SessionId, upTo: number) => ({ messagesOf: { session, upTo } })
      await expectRefusal(store.commit([{ ...create, ...from(copy, 3) }]), "invalid_input")
      await expectRefusal(store.commit([{ ...create, ...from(copy, -1) }]), "invalid_input")
      await expectRefusal(store.commit([{ ...create, ...from(source, 1) }]), "not_found")
      await expectRefusal(store.commit([{ ...create, workspace: OTHER, ...from(copy, 1) }]), "not_found")
      expect(await store.session(create.id)).toBeUndefined()
    })

    test("that are deleted only if idle stay while a task lives, and if something happened since", async ({
      engine,
    }) => {
      const { store } = engine
      const one = await createSession(engine)
      const deleteIdle = (ifIdleSince: number) => store.commit([{ op: "session.delete", id: one, ifIdleSince }])
      const { updatedAt = Number.NaN } = (await store.session(one)) ?? {}
      await expectRefusal(deleteIdle(updatedAt - 1), "wrong_state")
      const { id: task } = await createTask(engine, RUNNING, { session: one, lifetime: "forever" })
      await expectRefusal(deleteIdle(Number.MAX_SAFE_INTEGER), "wrong_state")
      const ended = await applyEvents(engine, task, COMPLETED)
      const endedAt = "endedAt" in ended ? ended.endedAt : Number.NaN
      await expectRefusal(deleteIdle(endedAt - 1), "wrong_state")
      await deleteIdle(endedAt)
      expect(await store.session(one)).toBeUndefined()
      expect(await store.task(task)).toBeUndefined()
    })

    test("only one of two writers at the same version succeeds", async ({ engine, another }) => {
      const other = await another()
      const id = await createSession(engine)
      const writes = await Promise.allSettled(
        [engine, other].map(({ store }) =>
          store.commit([{ op: "session.update", id, expectedVersion: 1, messages: ["hello"] }]),
        ),
      )
      expect(writes.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"])
      await expectRefusal(
        engine.store.commit([{ op: "session.update", id, expectedVersion: 1, messages: [] }]),
        "version_conflict",
      )
      expect(await engine.store.session(id)).toMatchObject({ version: 2, messageCount: 1 })
    })

    test("unknown and doubled ids are refused", async ({ engine }) => {
      const id = await createSession(engine)
      await expectRefusal(
        engine.store.commit([{ op: "session.create", id, workspace: DEFAULT_WORKSPACE, data: {} }]),
        "invalid_input",
      )
      const unknown = createSessionId()
      expect(await engine.store.session(unknown)).toBeUndefined()
      expect(await engine.store.messages(unknown, 0, 10)).toEqual([])
      await expectRefusal(
        engine.store.commit([{ op: "session.update", id: unknown, expectedVersion: 1, messages: [] }]),
        "not_found",
      )
      await expectRefusal(engine.store.commit([{ op: "session.delete", id: unknown }]), "not_found")
    })

    test("deleting one removes its messages, terminal tasks and groups, and nothing of another", async ({ engine }) => {
      const id = await createSession(engine)
      const other = await createSession(engine)
      const group = sampleGroup({ session: id })
      await engine.store.commit([
        { op: "group.create", details: group },
        { op: "session.update", id, expectedVersion: 1, messages: ["hello"] },
      ])
      const mine = await createEndedTask(engine, { session: id, group: group.id })
      const theirs = await createEndedTask(engine, { session: other })
      await engine.store.commit([{ op: "session.delete", id }])
      expect(await engine.store.session(id)).toBeUndefined()
      expect(await engine.store.messages(id, 0, 10)).toEqual([])
      expect(await engine.store.task(mine.id)).toBeUndefined()
      expect(await engine.store.group(group.id)).toBeUndefined()
      expect(await engine.store.notices({ session: id }, 10)).toEqual([])
      expect(await engine.store.task(theirs.id)).toEqual(theirs)
      expect(await engine.store.notices({ session: other }, 10)).toHaveLength(1)
      expect(await engine.store.checkIntegrity()).toEqual({ isHealthy: true, problems: [] })
    })

    test("deleting one is refused while a task of it lives", async ({ engine }) => {
      const id = await createSession(engine)
      const { id: task } = await createTask(engine, RUNNING, { session: id })
      const ended = await createEndedTask(engine, { session: id })
      await expectRefusal(engine.store.commit([{ op: "session.delete", id }]), "wrong_state")
      expect(await engine.store.task(ended.id)).toEqual(ended)
      await applyEvents(engine, task, COMPLETED)
      await engine.store.commit([{ op: "session.delete", id }])
      expect(await engine.store.task(task)).toBeUndefined()
    })

    test("a task that lives forever outlives its session and goes on without one", async ({ engine }) => {
      const id = await createSession(engine)
      const { id: task } = await createTask(engine, RUNNING, { session: id, lifetime: "forever" })
      await engine.store.commit([{ op: "session.delete", id }])
      expect(await engine.store.task(task)).toMatchObject({ status: "running", session: null })
      expect(await applyEvents(engine, task, COMPLETED)).toMatchObject({ session: null })
      expect(await engine.store.notices({ taskId: task }, 10)).toMatchObject([{ session: null }])
      expect(await engine.store.countTasks({ session: id })).toBe(0)
    })
  })
}
