import { expect, test } from "vitest"
import { z } from "zod"
import type { ToolContext } from "../../src/plugin/context.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import type { TurnRun } from "../../src/runner/turn/turn-run.ts"
import { createSessionId, DEFAULT_WORKSPACE, type TaskId } from "../../src/task/id.ts"
import { beginRunnerLife } from "../support/runner-life.ts"
import { echo } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

const KEY = "1/call"

/** Uses results in the way that its input names, as a tool for the model does. */
const reader = defineTool({
  name: "reader",
  description: "Uses results.",
  input: z.object({ how: z.enum(["result", "acknowledge", "wait_for", "nested", "look"]), id: z.string() }),
  background: { mode: "after" },
  run: async ({ how, id }, { tasks }) => use(tasks, how, id),
})

async function use(tasks: ToolContext["tasks"], how: string, id: string) {
  if (how === "result") return (await tasks.result(id, { consume: true })).task.status
  if (how === "acknowledge") return tasks.acknowledge([id])
  if (how === "look") return (await tasks.result(id)).task.status
  if (how === "nested") {
    await tasks.execute({ tool: "reader", input: { how: "result", id } }).answer
    return null
  }
  return (await tasks.waitFor({ tasks: [id], limitMs: 1_000, consume: true })).reason
}

/** A turn that goes on until the test ends it, and a task of its session that has completed. */
async function openTurn() {
  const begun = Promise.withResolvers<TurnRun>()
  const over = Promise.withResolvers<null>()
  const body = (turn: TurnRun) => {
    begun.resolve(turn)
    turn.signal.addEventListener("abort", () => over.resolve(null))
    return over.promise
  }
  const { runner, store } = await beginRunnerLife(createFolder(), { tools: [reader, echo], continueTurn: body })
  const session = createSessionId()
  const start = { session, workspace: DEFAULT_WORKSPACE, model: "a/b", title: "turn", parentTask: null, traceId: null }
  const { taskId, ended } = await runner.beginTurn({ ...start, operations: [] }, body)
  const turn = await begun.promise
  const complete = async (of = session) => {
    const { id } = await runner.start({ tool: "echo", input: { value: "bread" }, session: of })
    await runner.result(id, { waitMs: 30_000 })
    return id
  }
  const by = { taskId, run: 1, key: KEY }
  const call = (how: string, id: TaskId) => ({ tool: "reader", input: { how, id }, session, parentTask: taskId })
  return {
    runner,
    store,
    turn,
    by,
    complete,
    read: (how: string, id: TaskId) => runner.execute({ ...call(how, id), askedBy: by }).answer,
    readInBackground: async (how: string, id: TaskId) => {
      const started = await runner.start(call(how, id))
      return runner.result(started.id, { waitMs: 30_000 })
    },
    readUnasked: (how: string, id: TaskId) => runner.execute(call(how, id)).answer,
    keepAnswer: () => turn.commit((run) => [{ op: "step.finish", run, key: KEY, result: null, settlesClaims: true }]),
    async end() {
      over.resolve(null)
      await ended
    },
    noticeOf: async (taskId: TaskId) => (await store.notices({ taskId }, 1))[0],
  }
}

test.each(["result", "acknowledge", "wait_for", "nested"])(
  "a result used by %s within a call of a turn is claimed by that call, and used once the turn has kept its answer",
  async (how) => {
    const { complete, read, noticeOf, by, keepAnswer } = await openTurn()
    const id = await complete()
    await read(how, id)
    expect(await noticeOf(id)).toMatchObject({ state: "claimed", claimedBy: by })
    await keepAnswer()
    expect(await noticeOf(id)).toMatchObject({ state: "consumed" })
  },
)

test("C16. A claim whose turn ended without keeping the answer is free again", async () => {
  const { complete, read, end, runner, store } = await openTurn()
  const id = await complete()
  await read("result", id)
  expect(await runner.acknowledge([id])).toBe(0)
  await end()
  expect(await runner.acknowledge([id])).toBe(1)
  expect(await store.notices({ taskId: id, states: ["consumed"] }, 1)).toHaveLength(1)
})

test("a result addressed to another session is read without being used", async () => {
  const { complete, read, noticeOf, store } = await openTurn()
  const id = await complete(createSessionId())
  expect(await read("result", id)).toMatchObject({ outcome: "completed", patch: { payload: "completed" } })
  expect(await read("acknowledge", id)).toMatchObject({ patch: { payload: 0 } })
  expect(await noticeOf(id)).toMatchObject({ state: "pending" })
  expect(await store.task(id)).toMatchObject({ retrievedAt: null })
})

test("002: the record says when its result was first handed over; looking at it says nothing", async () => {
  const { complete, read, store } = await openTurn()
  const id = await complete()
  await read("look", id)
  await read("acknowledge", id)
  expect(await store.task(id)).toMatchObject({ retrievedAt: null })
  await read("result", id)
  const retrieved = (await store.task(id))?.retrievedAt
  expect(retrieved).toEqual(expect.any(Number))
  await read("wait_for", id)
  expect((await store.events(id, 0, 50)).filter(({ body }) => body.type === "task.retrieved")).toHaveLength(1)
})

test("a result read by a task in the background, or by a call that no step asks for, is used at once", async () => {
  const { complete, readInBackground, readUnasked, noticeOf } = await openTurn()
  const [one, two] = [await complete(), await complete()]
  await readInBackground("result", one)
  await readUnasked("result", two)
  expect(await noticeOf(one)).toMatchObject({ state: "consumed" })
  expect(await noticeOf(two)).toMatchObject({ state: "consumed" })
})
