import { describe, expect } from "vitest"
import type { Engine } from "../../task/engine.ts"
import type { LifecycleEvent } from "../../task/event.ts"
import { createSessionId, createTaskId, type SessionId, type TaskId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskEntry } from "../../task/operation.ts"
import { RUNTIME_PLUGIN, type TaskDetails } from "../../task/record.ts"
import {
  applyEvents,
  CANCELLED,
  COMPLETED,
  createTask,
  FAILED,
  FAILURE,
  QUEUED,
  RUNNING,
  sampleDetails,
  sampleGroup,
  sampleWait,
} from "./samples.ts"
import { type EngineTest, expectRefusal } from "./subject.ts"

const STOP: LifecycleEvent = { type: "task.stop_requested", by: "person", reason: "enough" }
const OVERTIME: LifecycleEvent = { type: "task.stop_requested", by: "deadline", reason: "too long" }
const LOST: LifecycleEvent = { type: "task.interrupted", by: "lost_worker", failure: FAILURE }
const WAITING: TaskEntry = { as: "waiting", wait: sampleWait() }

/** Stops, in words and as the events that write them. */
const STOPS = [
  ["was asked to stop", STOP],
  ["was over its time limit", OVERTIME],
  ["failed", FAILED],
] as const

export function describeTrees(test: EngineTest): void {
  describe("what is below a task", () => {
    for (const [what, event] of STOPS) {
      test(`is stopped in the commit in which it ${what}, at any depth and through turns that have ended`, async ({
        engine,
      }) => {
        const tree = await growTree(engine)
        await applyEvents(engine, tree.agent, event)
        const stopped = { status: "cancelled", stop: { by: "parent", parent: tree.agent } }
        const stopping = { status: "stopping", stop: { by: "parent", parent: tree.agent } }
        expect(await engine.store.task(tree.queued)).toMatchObject(stopped)
        expect(await engine.store.task(tree.waiting)).toMatchObject(stopped)
        expect(await engine.store.task(tree.nested)).toMatchObject(stopping)
        expect(await engine.store.task(tree.nestedTurn)).toMatchObject(stopping)
        expect(await engine.store.task(tree.deep)).toMatchObject(stopping)
        expect(await engine.store.waits({ taskId: tree.waiting, isOpen: true })).toEqual([])
        expect((await engine.store.task(tree.beside))?.status).toBe("running")
        expect((await engine.store.task(tree.rootTurn))?.status).toBe("running")
      })
    }

    test("is stopped with a task that is cancelled before it runs again", async ({ engine }) => {
      const agent = await createTask(engine, WAITING, { kind: "agent" })
      const child = await createTask(engine, RUNNING, { parentTask: agent.id })
      await applyEvents(engine, agent.id, CANCELLED)
      const task = await engine.store.task(child.id)
      expect(task).toMatchObject({ status: "stopping", stop: { by: "parent", parent: agent.id } })
      expect(task && "stop" in task && task.stop.reason).toContain("not needed")
    })

    test("goes on below a stopped task if it lives forever, beside that task and named by it", async ({ engine }) => {
      const session = createSessionId()
      const top = await createTask(engine, RUNNING, { kind: "agent" })
      const agent = await createTask(engine, RUNNING, { kind: "agent", parentTask: top.id, session })
      const nested = await createTask(engine, RUNNING, { parentTask: agent.id, session: createSessionId() })
      const server = await createTask(engine, RUNNING, { parentTask: nested.id, lifetime: "forever" })
      const ofServer = await createTask(engine, QUEUED, { parentTask: server.id })
      await applyEvents(engine, agent.id, STOP)
      expect(await engine.store.task(server.id)).toMatchObject({ status: "running", parentTask: top.id, session })
      expect(await engine.store.task(ofServer.id)).toMatchObject({ status: "queued", parentTask: server.id })
      const events = await engine.store.events(agent.id, 0, 100)
      expect(events.map(({ body }) => body)).toContainEqual({ type: "task.outlived", by: [server.id], count: 1 })
      const [handedOn] = (await engine.store.events(server.id, 0, 100)).slice(-1)
      expect(handedOn?.body).toEqual({ type: "task.handed_on", from: agent.id, to: top.id, session })
    })

    for (const [how, event] of [
      ["completed", COMPLETED],
      ["was interrupted", LOST],
    ] as const) {
      test(`is handed on by an agent that ${how}: what lives, and what nobody was told of`, async ({ engine }) => {
        const [above, own] = [createSessionId(), createSessionId()]
        const caller = await createTask(engine, RUNNING, { kind: "turn", session: above })
        const agent = await createTask(engine, RUNNING, { kind: "agent", parentTask: caller.id, session: above })
        const turn = await createTask(engine, RUNNING, { kind: "turn", parentTask: agent.id, session: own })
        const [live, ended, told] = await Promise.all(
          [RUNNING, RUNNING, RUNNING].map((entry) => createTask(engine, entry, { parentTask: turn.id, session: own })),
        )
        if (!live || !ended || !told) throw new Error("Three tasks were created.")
        await applyEvents(engine, ended.id, COMPLETED)
        await applyEvents(engine, told.id, COMPLETED)
        const key = { taskId: told.id, run: 1, kind: "ended" } as const
        await engine.store.commit([{ op: "notice.consume", keys: [key], by: null }])
        await applyEvents(engine, turn.id, COMPLETED)
        await applyEvents(engine, agent.id, event)
        const place = { parentTask: caller.id, session: above }
        expect(await engine.store.task(live.id)).toMatchObject({ status: "running", ...place })
        expect(await engine.store.task(ended.id)).toMatchObject({ status: "completed", ...place })
        expect(await engine.store.task(told.id)).toMatchObject({ parentTask: turn.id, session: own })
        await applyEvents(engine, live.id, COMPLETED)
        const unused = await engine.store.notices({ session: above, states: ["pending"] }, 100)
        expect(unused.map(({ taskId }) => taskId).toSorted()).toEqual([live.id, ended.id, agent.id].toSorted())
        expect(await engine.store.notices({ session: own, states: ["pending"] }, 100)).toEqual([])
      })
    }

    test("is handed on with its group", async ({ engine }) => {
      const [above, own] = [createSessionId(), createSessionId()]
      const agent = await createTask(engine, RUNNING, { kind: "agent", session: above })
      const details = sampleGroup({ session: own, failFast: false })
      await engine.store.commit([{ op: "group.create", details }])
      const member = { parentTask: agent.id, session: own, group: details.id }
      const first = await createTask(engine, RUNNING, member)
      await createTask(engine, RUNNING, member)
      await engine.store.commit([{ op: "group.move", groupId: details.id, to: "sealed" }])
      await applyEvents(engine, first.id, COMPLETED)
      await applyEvents(engine, agent.id, COMPLETED)
      expect(await engine.store.group(details.id)).toMatchObject({ session: above, state: "sealed" })
    })

    test("ends with an interrupted agent if it is its turn or its question", async ({ engine }) => {
      const agent = await createTask(engine, RUNNING, { kind: "agent" })
      const turn = await createTask(engine, RUNNING, { kind: "turn", parentTask: agent.id })
      const ofTurn = await createTask(engine, RUNNING, { parentTask: turn.id, lifetime: "turn" })
      const question = await createTask(engine, WAITING, { parentTask: agent.id, plugin: RUNTIME_PLUGIN })
      await applyEvents(engine, agent.id, LOST)
      expect((await engine.store.task(turn.id))?.status).toBe("stopping")
      expect(await engine.store.task(ofTurn.id)).toMatchObject({ status: "stopping", stop: { by: "lifetime" } })
      expect((await engine.store.task(question.id))?.status).toBe("cancelled")
      const [notice] = await engine.store.notices({ taskId: question.id, states: ["pending"] }, 10)
      expect(notice?.notify).toBe("silent")
    })

    test("goes on after a turn, unless it belongs to the turn", async ({ engine }) => {
      const turn = await createTask(engine, RUNNING, { kind: "turn" })
      const build = await createTask(engine, RUNNING, { parentTask: turn.id })
      const ofTurn = await createTask(engine, QUEUED, { parentTask: turn.id, lifetime: "turn" })
      const ofBuild = await createTask(engine, RUNNING, { parentTask: build.id, lifetime: "turn" })
      const called = await createTask(engine, RUNNING, { kind: "turn", parentTask: turn.id })
      const ofCalled = await createTask(engine, RUNNING, { parentTask: called.id })
      const agent = await createTask(engine, RUNNING, { kind: "agent", parentTask: turn.id })
      const otherTurn = await createTask(engine, RUNNING, { kind: "turn", parentTask: agent.id })
      const ofOther = await createTask(engine, RUNNING, { parentTask: otherTurn.id, lifetime: "turn" })
      await applyEvents(engine, turn.id, FAILED)
      const statusOf = async (id: TaskId) => (await engine.store.task(id))?.status
      for (const { id } of [build, agent, otherTurn, ofOther]) expect(await statusOf(id)).toBe("running")
      for (const { id } of [ofBuild, called, ofCalled]) expect(await statusOf(id)).toBe("stopping")
      expect(await engine.store.task(ofTurn.id)).toMatchObject({ status: "cancelled", stop: { by: "lifetime" } })
      expect(await engine.store.task(called.id)).toMatchObject({ stop: { by: "parent" } })
    })

    for (const [how, events] of [
      ["is being stopped", [STOP]],
      ["was cancelled", [STOP, CANCELLED]],
      ["failed", [FAILED]],
    ] as const) {
      test(`cannot begin once the task ${how}`, async ({ engine }) => {
        const agent = await createTask(engine, RUNNING, { kind: "agent" })
        const turn = await createTask(engine, RUNNING, { kind: "turn", parentTask: agent.id })
        const ended = await createTask(engine, RUNNING, { parentTask: turn.id })
        await applyEvents(engine, ended.id, FAILED)
        await applyEvents(engine, agent.id, ...events)
        for (const parentTask of [agent.id, turn.id]) {
          const details = sampleDetails({ parentTask })
          const create = { op: "task.create", details, entry: QUEUED } as const
          await expect(engine.store.commit([create])).rejects.toThrow("Nothing more can begin below task")
        }
        const again = { op: "task.begin_run", taskId: ended.id, afterRun: 1, reason: "retry" } as const
        await expectRefusal(engine.store.commit([again]), "wrong_state")
      })
    }

    test("can begin below a turn that was stopped, and below an agent that completed", async ({ engine }) => {
      const turn = await createTask(engine, RUNNING, { kind: "turn" })
      const agent = await createTask(engine, RUNNING, { kind: "agent", parentTask: turn.id })
      await applyEvents(engine, turn.id, STOP, CANCELLED)
      const child = await createTask(engine, QUEUED, { parentTask: agent.id })
      await applyEvents(engine, child.id, CANCELLED)
      await applyEvents(engine, agent.id, COMPLETED)
      const again = { op: "task.begin_run", taskId: child.id, afterRun: 1, reason: "retry" } as const
      const [begun] = await engine.store.commit([again])
      expect(begun).toMatchObject({ status: "queued", run: 2 })
    })

    test("never lives on when it is created at the moment of the stop", async ({ engine, another }) => {
      const other = await another()
      for (let round = 0; round < 20; round += 1) {
        const agent = await createTask(engine, RUNNING, { kind: "agent" })
        const turn = await createTask(engine, RUNNING, { kind: "turn", parentTask: agent.id })
        const create = (parentTask: TaskId) => {
          const details = sampleDetails({ parentTask })
          return other.store.commit([{ op: "task.create", details, entry: QUEUED }])
        }
        const creations = Array.from({ length: 4 }, (_, index) => create(index % 2 === 0 ? turn.id : agent.id))
        const settled = Promise.allSettled(creations)
        await applyEvents(engine, agent.id, STOP)
        for (const creation of await settled) {
          if (creation.status === "rejected") continue
          const task = await engine.store.task(creation.value[0].task.id)
          expect(task?.status).toBe("cancelled")
        }
      }
    })

    test("is stopped in one commit, however much it is", async ({ engine }) => {
      const agent = await createTask(engine, RUNNING, { kind: "agent" })
      const children = Array.from({ length: MANY }, () => sampleDetails({ parentTask: agent.id }))
      for (let from = 0; from < MANY; from += 1_000) {
        const part = children.slice(from, from + 1_000)
        await engine.store.commit(part.map((details) => ({ op: "task.create", details, entry: QUEUED }) as const))
      }
      await applyEvents(engine, agent.id, STOP)
      expect(await engine.store.countTasks({ parentTask: agent.id, statuses: ["cancelled"] })).toBe(MANY)
    })
  })

  describeCalls(test)
}

const MANY = 10_000

function describeCalls(test: EngineTest): void {
  describe("what a call began before it had a record", () => {
    test("is below its record once that is written", async ({ engine }) => {
      const turn = await createTask(engine, RUNNING, { kind: "turn" })
      const begun = await createTask(engine, RUNNING, { kind: "turn", parentTask: turn.id })
      const beside = await createTask(engine, RUNNING, { parentTask: turn.id })
      const details = sampleDetails({ kind: "agent", parentTask: turn.id })
      const children = [begun.id, createTaskId()]
      const [{ task }] = await engine.store.commit([{ op: "task.create", details, entry: RUNNING, children }])
      expect(task.hasChildren).toBe(true)
      expect((await engine.store.task(begun.id))?.parentTask).toBe(task.id)
      expect((await engine.store.task(beside.id))?.parentTask).toBe(turn.id)
      await applyEvents(engine, turn.id, COMPLETED)
      expect((await engine.store.task(begun.id))?.status).toBe("running")
      await applyEvents(engine, task.id, STOP)
      expect((await engine.store.task(begun.id))?.status).toBe("stopping")
    })

    test("is stopped with a call that fails without a record", async ({ engine }) => {
      const { turn, called, child } = await growCall(engine)
      const end = { op: "call.end", children: [called], parentTask: turn, session: null } as const
      await engine.store.commit([{ ...end, stoppedFor: "it failed" }])
      for (const id of [called, child])
        expect(await engine.store.task(id)).toMatchObject({
          status: "stopping",
          stop: { by: "parent", reason: "it failed" },
        })
      expect((await engine.store.task(turn))?.status).toBe("running")
    })

    test("is handed on by a call that completes without a record", async ({ engine }) => {
      const { turn, called, child } = await growCall(engine)
      await applyEvents(engine, called, COMPLETED)
      const session = createSessionId()
      await engine.store.commit([{ op: "call.end", children: [called], parentTask: turn, session, stoppedFor: null }])
      expect(await engine.store.task(child)).toMatchObject({ status: "running", parentTask: turn, session })
    })
  })
}

async function growCall(engine: Engine) {
  const turn = await createTask(engine, RUNNING, { kind: "turn" })
  const called = await createTask(engine, RUNNING, { kind: "turn", parentTask: turn.id })
  const child = await createTask(engine, RUNNING, { parentTask: called.id })
  return { turn: turn.id, called: called.id, child: child.id }
}

/** An agent of a turn, with work below it on every level, and work beside it. */
async function growTree(engine: Engine) {
  const session: SessionId = createSessionId()
  const add = async (entry: TaskEntry, details: Partial<TaskDetails>) => (await createTask(engine, entry, details)).id
  const rootTurn = await add(RUNNING, { kind: "turn", session })
  const beside = await add(RUNNING, { parentTask: rootTurn, session })
  const agent = await add(RUNNING, { kind: "agent", parentTask: rootTurn, session })
  const endedTurn = await add(RUNNING, { kind: "turn", parentTask: agent })
  const queued = await add(QUEUED, { parentTask: endedTurn })
  const waiting = await add(WAITING, { parentTask: endedTurn })
  const nested = await add(RUNNING, { kind: "agent", parentTask: endedTurn })
  const nestedTurn = await add(RUNNING, { kind: "turn", parentTask: nested })
  const deep = await add(RUNNING, { parentTask: nestedTurn })
  const { status } = await applyEvents(engine, endedTurn, COMPLETED)
  if (!isTerminal(status)) throw new Error("The turn must have ended.")
  return { rootTurn, beside, agent, queued, waiting, nested, nestedTurn, deep }
}
