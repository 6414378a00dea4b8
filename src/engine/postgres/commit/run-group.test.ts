import { randomBytes } from "node:crypto"
import { describe, expect, test } from "vitest"
import {
  createSessionId,
  createTaskId,
  DEFAULT_WORKSPACE,
  type GroupId,
  type SessionId,
  type TaskId,
} from "../../../task/id.ts"
import type { Operation } from "../../../task/operation.ts"
import { QUEUED } from "../../suite/samples.ts"
import { expectRefusal } from "../../suite/subject.ts"
import { complete, create, sampleGroup, useWritingStore } from "../../../../test/support/postgres/writing.ts"

const { open } = useWritingStore()

describe("a group of writers", () => {
  test("of a hundred new tasks in a session takes one look and two writes", async () => {
    const { runGroup, sent, commit } = await open()
    const session = createSessionId()
    await commit([{ op: "session.create", id: session, workspace: DEFAULT_WORKSPACE, data: {} }])
    sent()
    const outcomes = await runGroup(Array.from({ length: 100 }, () => [create({ session })]))
    expect(outcomes.every(({ isRefused }) => !isRefused)).toBe(true)
    expect(sent()).toEqual(["SELECT", "INSERT INTO tasks", "INSERT INTO events"])
  })

  test("of a hundred ends takes one look and three writes", async () => {
    const { runGroup, sent } = await open()
    const created = Array.from({ length: 100 }, () => create())
    await runGroup(created.map((operation) => [operation]))
    sent()
    await runGroup(created.map(({ details }) => [complete(details.id)]))
    expect(sent()).toEqual(["WITH", "UPDATE tasks", "INSERT INTO events", "INSERT INTO notices"])
  })

  test("of ends in a group looks at the group and then at its arrivals, however many there are", async () => {
    const { runGroup, sent, commit } = await open()
    const details = sampleGroup()
    const { id } = details
    await commit([{ op: "group.create", details }])
    const members = Array.from({ length: 20 }, () => create({ group: id }))
    await runGroup([...members.map((operation) => [operation]), [{ op: "group.move", groupId: id, to: "sealed" }]])
    sent()
    await runGroup(members.map(({ details }) => [complete(details.id)]))
    expect(sent().slice(0, 4)).toEqual(["WITH", "SELECT", "SELECT", "UPDATE tasks"])
  })

  test("uses a result beside a writer that is refused for the id of its task", async () => {
    const { runGroup, commit, store } = await open()
    const task = create()
    const { id } = task.details
    await commit([task, complete(id)])
    const keys = [{ taskId: id, run: 1, kind: "ended" }] as const
    const again = [create({ id }), complete(createTaskId())]
    const [used, made] = await runGroup([[{ op: "notice.consume", keys, by: null }], again])
    expect(used).toMatchObject({ isRefused: false, answers: [keys] })
    expect(made).toMatchObject({ isRefused: true, error: { code: "invalid_input" } })
    expect(await store.notices({ taskId: id }, 10)).toMatchObject([{ state: "consumed" }])
  })

  test("locks tasks before everything else", async () => {
    const [one, other] = [await open(), await open()]
    const operation = create()
    const { id } = operation.details
    await one.commit([operation])
    for (const { runGroup, sent } of [one, other]) {
      sent()
      const lease = { key: `lease of ${id}`, holder: "holder", ttlMs: 60_000, data: {} }
      await runGroup([[{ op: "lease.take", ...lease }], [{ op: "task.prioritize", taskId: id, priority: 7 }]])
      expect(sent().slice(0, 2)).toEqual(["WITH", "SELECT"])
    }
  })

  test("tells the queue how tasks have changed", async () => {
    const { commit, changes } = await open()
    const operation = create({}, QUEUED)
    await commit([operation])
    expect(changes).toMatchObject([{ before: undefined, after: { state: { status: "queued" } } }])
    const taskId = operation.details.id
    await commit([{ op: "task.apply", run: { taskId, run: 1 }, event: { type: "task.started", worker: "w" as never } }])
    expect(changes[1]).toMatchObject({
      before: { state: { status: "queued" } },
      after: { state: { status: "running" } },
    })
  })

  test("refuses an id that is taken, also in the same group, and writes the others", async () => {
    const { runGroup, store } = await open()
    const [taken, twice, free] = [create(), create(), create()]
    await runGroup([[taken]])
    const outcomes = await runGroup([[taken], [twice], [free], [twice]])
    expect(outcomes.map(({ isRefused }) => isRefused)).toEqual([true, false, false, true])
    expect(outcomes[0]).toMatchObject({ error: { code: "invalid_input" } })
    expect(await store.task(free.details.id)).toMatchObject({ status: "running" })
  })

  test("refuses a writer for its first mistake", async () => {
    const { runGroup } = await open()
    const taken = create()
    await runGroup([[taken]])
    const [outcome] = await runGroup([[taken, complete("nobody" as TaskId)]])
    expect(outcome).toMatchObject({ isRefused: true, error: { code: "invalid_input" } })
  })

  test("keeps characters that PostgreSQL cannot store in JSON, replaces them in titles and refuses them in ids", async () => {
    const { commit, store } = await open()
    const odd = "a\0b\ud800"
    const operation = create({ title: odd, input: { [odd]: odd }, metadata: { odd } })
    const [written, refused] = await Promise.allSettled([commit([operation]), commit([create({ plugin: odd })])])
    expect(written).toMatchObject({ status: "fulfilled" })
    expect(refused).toMatchObject({ status: "rejected", reason: { code: "invalid_input" } })
    const task = await store.task(operation.details.id)
    expect(task).toMatchObject({ title: "a\ufffdb\ufffd", input: { [odd]: odd }, metadata: { odd } })
    await expectRefusal(commit([complete(odd as TaskId)]), "not_found")
  })

  test("refuses the writer whose value only the server finds too long, and writes the others", async () => {
    const { commit, store } = await open()
    const tooLong = randomBytes(30_000).toString("base64") as SessionId
    const good = Array.from({ length: 16 }, () => create())
    const writers = [...good.slice(0, 8), create({ session: tooLong }), ...good.slice(8)]
    const results = await Promise.allSettled(writers.map((operation) => commit([operation])))
    expect(results[8]).toMatchObject({ status: "rejected", reason: { code: "invalid_input", message: /index row/ } })
    expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1)
    for (const { details } of good) expect(await store.task(details.id)).toMatchObject({ status: "running" })
  })

  test("refuses writers with a value that cannot be stored, names its field, and writes the others at once", async () => {
    const { runGroup, store, sent, commit } = await open()
    const odd = "a\0b"
    const workspace = DEFAULT_WORKSPACE
    const endless: { self?: unknown } = {}
    endless.self = endless
    const running = create()
    await commit([running])
    const run = { taskId: running.details.id, run: 1, fence: 1 }
    const group = odd as GroupId
    const bad: readonly (readonly [string, ...Operation[]])[] = [
      ["idempotencyKey", create({ idempotencyKey: odd })],
      ["group", { op: "group.create", details: { ...sampleGroup(), id: group } }, create({ group })],
      ["taskId", create({ askedBy: { taskId: odd as TaskId, run: 1, key: "call" } })],
      ["key", create({ askedBy: { taskId: running.details.id, run: 1, key: odd } })],
      ["key", { op: "step.start", run, key: odd, onCrash: "retry" }],
      ["collection", { op: "document.put", workspace, collection: odd, id: "id", value: 1, expectedVersion: 0 }],
      ["id", { op: "document.put", workspace, collection: "odd", id: odd, value: 1, expectedVersion: 0 }],
      ["value", { op: "document.put", workspace, collection: "odd", id: "id", value: 1n as never, expectedVersion: 0 }],
      ["data", { op: "session.create", id: createSessionId(), workspace, data: endless as never }],
      ["input", create({ input: 1n as never })],
    ]
    const good = Array.from({ length: 20 }, () => create({ title: odd }))
    const goodWriters = good.map((operation) => [operation])
    const badWriters = bad.map(([, ...operations]) => operations)
    sent()
    const outcomes = await runGroup([...goodWriters.slice(0, 7), ...badWriters, ...goodWriters.slice(7)])
    expect(sent().filter((words) => words === "INSERT INTO tasks")).toHaveLength(1)
    for (const [index, [field]] of bad.entries())
      expect(outcomes[index + 7]).toMatchObject({
        isRefused: true,
        error: { code: "invalid_input", details: { field } },
      })
    expect(outcomes.filter(({ isRefused }) => isRefused)).toHaveLength(bad.length)
    for (const { details } of good) expect(await store.task(details.id)).toMatchObject({ title: "a\ufffdb" })
  })
})
