import { describe, expect } from "vitest"
import { createGroupId, createSessionId, createTaskId, type MessageId, type WorkspaceId } from "../../task/id.ts"
import { PLAIN_DETAILS } from "../../task/record.ts"
import { createTask, QUEUED, RUNNING, sampleDetails, sampleGroup, sampleWait, WORKER } from "./samples.ts"
import { type EngineTest, expectRefusal } from "./subject.ts"

type PlainDetail = keyof typeof PLAIN_DETAILS

export function describeCreation(test: EngineTest): void {
  describe("creating a task", () => {
    test("keeps every detail as it was given", async ({ engine, reopen }) => {
      const parent = await createTask(engine, RUNNING)
      const [group] = await engine.store.commit([{ op: "group.create", details: sampleGroup() }])
      const details = sampleDetails({
        parentTask: parent.id,
        parentMessage: crypto.randomUUID() as MessageId,
        session: createSessionId(),
        group: group.id,
        inputHeldBy: WORKER,
        batch: "message-1",
        kind: "agent",
        model: "small",
        folder: "/somewhere",
        input: { text: "ü😀\u0000", list: [1, 2.5, null, { deep: true }] },
        metadata: { ticket: 7 },
        lifetime: "forever",
        priority: -3,
        notify: "silent",
        limits: { timeoutMs: 1, tokens: 2, costMicros: 3, outputBytes: 4 },
        idempotencyKey: "once",
        askedBy: { taskId: parent.id, run: 1, key: "step-1" },
        depth: 2,
        traceId: "trace",
      })
      // A detail that has the value of a plain task would look kept by an engine that does not know it.
      const plain = Object.entries(PLAIN_DETAILS).filter(([name, value]) =>
        Object.is(details[name as PlainDetail], value),
      )
      expect(plain).toEqual([])
      const [{ task, created }] = await engine.store.commit([{ op: "task.create", details, entry: QUEUED }])
      expect(created).toBe(true)
      expect(task).toMatchObject(details)
      expect(await engine.store.task(details.id)).toEqual(task)
      expect(await (await reopen()).store.task(details.id)).toEqual(task)
    })

    test("keeps a large input and large metadata whole", async ({ engine }) => {
      const input = { text: "x".repeat(200_000) }
      const metadata = { text: "y".repeat(10_000) }
      const { id } = await createTask(engine, RUNNING, { input, metadata })
      expect(await engine.store.task(id)).toMatchObject({ input, metadata })
    })

    test("as queued writes one event and offers the run", async ({ engine }) => {
      const task = await createTask(engine)
      expect(task).toMatchObject({ status: "queued", run: 1, fence: 0, startedAt: null, lastSequence: 1 })
      const events = await engine.store.events(task.id, 0, 10)
      expect(events).toEqual([
        { taskId: task.id, sequence: 1, run: 1, at: task.createdAt, body: { type: "task.queued" } },
      ])
    })

    test("as running is claimed by its creator in the same transaction", async ({ engine }) => {
      const task = await createTask(engine, RUNNING)
      expect(task).toMatchObject({ status: "running", worker: WORKER, fence: 1, lastSequence: 2 })
      const events = await engine.store.events(task.id, 0, 10)
      expect(events.map(({ body }) => body)).toEqual([
        { type: "task.queued" },
        { type: "task.started", worker: WORKER },
      ])
    })

    test("as running keeps when the work really started", async ({ engine }) => {
      const task = await createTask(engine, { as: "running", worker: WORKER, startedAt: 1_234 })
      expect(task.startedAt).toBe(1_234)
    })

    test("as waiting opens the wait", async ({ engine }) => {
      const wait = sampleWait({ reason: "approval" })
      const task = await createTask(engine, { as: "waiting", wait })
      expect(task).toMatchObject({ status: "waiting", wait, fence: 0 })
      expect(await engine.store.wait(wait.id)).toMatchObject({ ...wait, state: "open", taskId: task.id, run: 1 })
    })

    test("writes its facts after the entry's own event, and keeps what they say", async ({ engine }) => {
      const details = sampleDetails()
      const progress = { done: 1, total: 2, phase: "half", line: null }
      const [{ task }] = await engine.store.commit([
        {
          op: "task.create",
          details,
          entry: RUNNING,
          facts: [
            { type: "task.promoted", afterMs: 10_000 },
            { type: "task.progressed", progress },
            { type: "task.spent", usage: { tokens: 5, costMicros: 7 } },
          ],
        },
      ])
      expect(task).toMatchObject({ lastSequence: 5, progress, usage: { tokens: 5, costMicros: 7 } })
      expect(await engine.store.task(details.id)).toEqual(task)
      const types = (await engine.store.events(details.id, 0, 10)).map(({ body }) => body.type)
      expect(types).toEqual(["task.queued", "task.started", "task.promoted", "task.progressed", "task.spent"])
    })

    test("twice under one idempotency key gives the first task and writes nothing", async ({ engine }) => {
      const first = await createTask(engine, QUEUED, { idempotencyKey: "key" })
      const details = sampleDetails({ idempotencyKey: "key" })
      const [second] = await engine.store.commit([{ op: "task.create", details, entry: RUNNING }])
      expect(second).toEqual({ task: first, created: false })
      expect(await engine.store.task(details.id)).toBeUndefined()
      expect(await engine.store.events(first.id, 0, 10)).toHaveLength(1)
    })

    test("an idempotency key admits once: ten concurrent starts with the same key are one task", async ({
      engine,
      another,
    }) => {
      const other = await another()
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (index % 2 ? engine : other).store.commit([
            { op: "task.create", details: sampleDetails({ idempotencyKey: "one" }), entry: QUEUED },
          ]),
        ),
      )
      expect(new Set(answers.map(([{ task }]) => task.id)).size).toBe(1)
      expect(answers.filter(([{ created }]) => created)).toHaveLength(1)
      expect(await engine.store.countTasks({})).toBe(1)
    })

    test("the same idempotency key in two workspaces makes two tasks", async ({ engine }) => {
      const one = await createTask(engine, QUEUED, { idempotencyKey: "key" })
      const other = await createTask(engine, QUEUED, { idempotencyKey: "key", workspace: "other" as WorkspaceId })
      expect(other.id).not.toBe(one.id)
    })

    test("one asking step has at most one task, and its result is recorded with it", async ({ engine }) => {
      const turn = await createTask(engine, RUNNING, { kind: "turn" })
      const askedBy = { taskId: turn.id, run: 1, key: "call-1" }
      const create = () =>
        engine.store.commit([
          { op: "task.create", details: sampleDetails({ askedBy }), entry: QUEUED, askingStepResult: { taskId: "…" } },
        ])
      const [[first], [second]] = await Promise.all([create(), create()])
      expect(first.created).not.toBe(second.created)
      expect(second.task.id).toBe(first.task.id)
      expect(await engine.store.steps(turn.id, 1)).toMatchObject([
        { key: "call-1", state: "finished", completion: 1, result: { taskId: "…" } },
      ])
      expect((await engine.store.task(turn.id))?.lastSequence).toBe(3)
    })

    test("with a step's result is refused whole when the asking run has ended", async ({ engine }) => {
      const turn = await createTask(engine, RUNNING, { kind: "turn" })
      const run = { taskId: turn.id, run: 1 }
      await engine.store.commit([{ op: "task.apply", run, event: { type: "task.completed", patch: emptyPatch } }])
      const details = sampleDetails({ askedBy: { ...run, key: "late" } })
      await expectRefusal(
        engine.store.commit([{ op: "task.create", details, entry: QUEUED, askingStepResult: null }]),
        "wrong_state",
      )
      expect(await engine.store.task(details.id)).toBeUndefined()
    })

    test("with a step's result but no asking step is refused", async ({ engine }) => {
      await expectRefusal(
        engine.store.commit([{ op: "task.create", details: sampleDetails(), entry: QUEUED, askingStepResult: 1 }]),
        "invalid_input",
      )
      expect(await engine.store.countTasks({})).toBe(0)
    })

    test("with an id that is taken is refused", async ({ engine }) => {
      const { id } = await createTask(engine)
      await expectRefusal(createTask(engine, QUEUED, { id }), "invalid_input")
    })

    test("in a group that does not exist is refused", async ({ engine }) => {
      await expectRefusal(createTask(engine, QUEUED, { group: createGroupId() }), "not_found")
    })

    test("is found by any prefix of its id within its workspace", async ({ engine }) => {
      const ids = ["aaaa-1", "aaaa-2", "ab-1"].map((id) => id as ReturnType<typeof createTaskId>)
      for (const id of ids) await createTask(engine, QUEUED, { id })
      await createTask(engine, QUEUED, { id: "aaaa-3" as (typeof ids)[0], workspace: "other" as WorkspaceId })
      const { workspace } = sampleDetails()
      expect(await engine.store.findByPrefix(workspace, "aaaa", 10)).toEqual(["aaaa-1", "aaaa-2"])
      expect(await engine.store.findByPrefix(workspace, "aaaa", 1)).toEqual(["aaaa-1"])
      expect(await engine.store.findByPrefix(workspace, "ab-1", 10)).toEqual(["ab-1"])
      expect(await engine.store.findByPrefix(workspace, "aa%", 10)).toEqual([])
    })

    test("that does not exist reads as undefined", async ({ engine }) => {
      const id = createTaskId()
      expect(await engine.store.task(id)).toBeUndefined()
      expect(await engine.store.run(id, 1)).toBeUndefined()
      expect(await engine.store.events(id, 0, 10)).toEqual([])
    })
  })
}

const emptyPatch = { digest: [], facts: {}, artifacts: [], nextSteps: [], payload: null }
