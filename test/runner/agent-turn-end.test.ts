import { expect, test } from "vitest"
import type { TurnRun } from "../../src/runner/turn/turn-run.ts"
import { createSessionId, createTaskId, type TaskId, type WorkspaceId } from "../../src/task/id.ts"
import type { LifecycleEvent } from "../../src/task/event.ts"
import type { RunStatus } from "../../src/task/lifecycle.ts"
import { eventually } from "../support/eventually.ts"
import { hasEvent, interceptCommits } from "../support/intercept-commits.ts"
import { beginRunnerLife, type RunnerLife } from "../support/runner-life.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

const BY_PERSON = { by: "person", reason: "it was asked to stop" } as const
const CANCELLED = { type: "task.cancelled", ...BY_PERSON, survivors: [], late: null } as const
const agentEnded = (parent: TaskId) => ({ by: "parent", parent })

interface Options {
  /** Default true. False: the runner takes over what others have left, and runs none of it. */
  readonly runs?: boolean
  readonly onCrash?: "retry" | "fail"
}

async function openLife(folder: string, number: number, { runs = true, onCrash = "retry" }: Options = {}) {
  const turns: TurnRun[] = []
  const agent = createGatedTool({ name: "agent", kind: "agent", obeys: true, onCrash })
  const body = (turn: TurnRun) => {
    turns.push(turn)
    return new Promise<never>((_resolve, reject) => {
      turn.signal.addEventListener("abort", () => reject(new Error("stopped")))
    })
  }
  const running = runs ? { continueTurn: body } : { background: { maxConcurrentTasks: 0 } }
  const life = await beginRunnerLife(folder, { tools: [agent.tool], ...running }, number)
  return { ...life, turns, agent, body }
}

type OpenLife = Awaited<ReturnType<typeof openLife>>

async function beginAgent(life: OpenLife) {
  const { runner, agent, turns, body } = life
  const session = createSessionId()
  const group = (await runner.groups.open({ name: "builders", session })).id
  const { id: agentId, workspace } = await runner.start({ tool: "agent", input: {}, session, group })
  await agent.call(1)
  const start = { session: createSessionId(), workspace, model: "a/b", title: "turn", traceId: null, operations: [] }
  const { taskId: turn } = await runner.beginTurn({ ...start, parentTask: agentId }, body)
  await eventually("the turn runs", () => turns.length === 1)
  return { id: agentId, turn, group }
}

/** An agent and its turn, whose process is gone. */
async function leaveAgent(folder: string, options: Options = {}) {
  const first = await openLife(folder, 1, options)
  const left = await beginAgent(first)
  first.life.end()
  return { ...left, first }
}

/** The write of a process that dies right after it. */
const toOperation = (taskId: TaskId, event: LifecycleEvent) =>
  ({ op: "task.apply", run: { taskId, run: 1 }, event }) as const

async function comesTo({ store, clock }: RunnerLife, id: TaskId, status: RunStatus): Promise<void> {
  await eventually(`${id} is ${status}`, async () => {
    clock.advance(500)
    return (await store.task(id))?.status === status
  })
}

/** The agent and its turn are in the queue, and nobody takes them. */
async function leaveQueued(folder: string) {
  const left = await leaveAgent(folder)
  const second = await openLife(folder, 2, { runs: false })
  await comesTo(second, left.id, "queued")
  await comesTo(second, left.turn, "queued")
  return { ...left, second }
}

test.each(["the agent", "its group"])(
  "when %s is cancelled while the agent is queued, its turn is cancelled with it",
  async (what) => {
    const folder = createFolder()
    const { id, turn, group, second } = await leaveQueued(folder)
    // A crash right after the one commit leaves nothing to do.
    interceptCommits({ engine: second }, async (operations, commit) => {
      const answers = await commit(operations)
      if (hasEvent(operations, "task.cancelled")) second.life.end()
      return answers
    })
    void (what === "its group" ? second.runner.groups.cancel(group) : second.runner.cancel(id)).catch(() => {})
    await second.life.over
    expect(await second.store.task(id)).toMatchObject({ status: "cancelled", stop: { by: "person" } })
    expect(await second.store.task(turn)).toMatchObject({ status: "cancelled", stop: agentEnded(id) })
  },
)

test("an agent that was being stopped when its worker died ends, and its turn is not taken", async () => {
  const folder = createFolder()
  const { id, turn, first } = await leaveAgent(folder)
  await first.store.commit([toOperation(id, { type: "task.stop_requested", ...BY_PERSON })])
  const second = await openLife(folder, 2)
  await comesTo(second, id, "cancelled")
  await comesTo(second, turn, "cancelled")
  expect(await second.store.task(turn)).toMatchObject({ stop: agentEnded(id) })
  expect(second.turns).toEqual([])
})

test("an agent that may not be repeated after a crash is interrupted, and its turn ends with it", async () => {
  const folder = createFolder()
  const { id, turn } = await leaveAgent(folder, { onCrash: "fail" })
  const second = await openLife(folder, 2, { onCrash: "fail" })
  await comesTo(second, id, "interrupted")
  await comesTo(second, turn, "cancelled")
  expect(await second.store.task(turn)).toMatchObject({ stop: agentEnded(id) })
})

test("the turn of an agent that has ended is not taken from the queue", async () => {
  const folder = createFolder()
  const { id, turn, second } = await leaveQueued(folder)
  second.life.end()
  await second.store.commit([toOperation(id, CANCELLED)])
  const third = await openLife(folder, 3)
  await comesTo(third, turn, "cancelled")
  expect(third.turns).toEqual([])
})

test("the turn of an agent that has ended is stopped where nobody takes it", async () => {
  const { id, turn, second } = await leaveQueued(createFolder())
  await second.store.commit([toOperation(id, CANCELLED)])
  await comesTo(second, turn, "cancelled")
})

test("the turn of an agent that has ended is stopped where it runs", async () => {
  const life = await openLife(createFolder(), 1)
  const { id, turn } = await beginAgent(life)
  await life.store.commit([toOperation(id, { type: "task.stop_requested", ...BY_PERSON }), toOperation(id, CANCELLED)])
  await comesTo(life, turn, "cancelled")
  expect(life.turns[0]?.signal.aborted).toBe(true)
})

test("an agent that is tried again leaves no turn of the run before", async () => {
  const { id, turn, second } = await leaveQueued(createFolder())
  await second.store.commit([toOperation(id, CANCELLED)])
  expect(await second.runner.retry(id)).toMatchObject({ status: "queued", run: 2 })
  expect(await second.store.task(turn)).toMatchObject({ status: "cancelled", stop: agentEnded(id) })
})

test("a turn that a call in the foreground asked for goes on after a crash, although the call has no record", async () => {
  const folder = createFolder()
  const first = await openLife(folder, 1)
  const start = { session: createSessionId(), model: "a/b", title: "turn", traceId: null, operations: [] }
  const workspace = "default" as WorkspaceId
  const { taskId } = await first.runner.beginTurn({ ...start, workspace, parentTask: createTaskId() }, first.body)
  first.life.end()
  const second = await openLife(folder, 2)
  await eventually("the turn goes on", () => second.turns.some((turn) => turn.taskId === taskId))
})
