import { expect, test } from "vitest"
import { DEFAULT_WORKSPACE, type MessageId, createSessionId } from "../../src/task/id.ts"
import type { TurnRun } from "../../src/runner/turn/turn-run.ts"
import { beginRunnerLife } from "../support/runner-life.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

const ORIGIN = { parentMessage: "s/4" as MessageId, batch: "s/4", hops: 2 }
const KEPT = { parentMessage: "s/4", batch: "s/4", metadata: { hops: 2 } }

test("what a call starts comes from the same message, in the same batch, as many hops from a person", async () => {
  const gated = createGatedTool({ obeys: true })
  const { runner } = await beginRunnerLife(createFolder(), { tools: [gated.tool, echo] })
  const execution = runner.execute({ tool: "gated", input: {}, ...ORIGIN })
  const { tasks } = (await gated.call(1)).context
  expect(await tasks.start({ tool: "echo", input: {} })).toMatchObject(KEPT)
  const own = { tool: "echo", input: {}, batch: "mine", hops: 0, metadata: { a: 1 } }
  expect(await tasks.start(own)).toMatchObject({ ...KEPT, batch: "mine", metadata: { a: 1, hops: 2 } })
  expect(await tasks.start({ ...own, hops: 3 })).toMatchObject({ metadata: { hops: 3 } })
  await execution.promote()
  expect((await runner.get(execution.taskId)).task).toMatchObject(KEPT)
})

test("a task taken from the queue, or run again, hands its origin on as it was", async () => {
  const gated = createGatedTool({ obeys: true })
  const background = { maxConcurrentTasks: 1 }
  const { runner } = await beginRunnerLife(createFolder(), { tools: [gated.tool, echo], background })
  await runner.start({ tool: "gated", input: {} })
  const { id } = await runner.start({ tool: "gated", input: {}, ...ORIGIN })
  ;(await gated.call(1)).finish()
  const second = await gated.call(2)
  expect(await second.context.tasks.start({ tool: "echo", input: {} })).toMatchObject(KEPT)
  second.fail(new Error("not this time"))
  await runner.result(id, { waitMs: 30_000 })
  await runner.retry(id)
  expect(await (await gated.call(3)).context.tasks.start({ tool: "echo", input: {} })).toMatchObject(KEPT)
})

test("a call below a task is no fewer hops from a person than the task, whoever makes it", async () => {
  const gated = createGatedTool({ obeys: true })
  const turns: TurnRun[] = []
  const body = async (turn: TurnRun) => {
    turns.push(turn)
    return (await runner.start({ tool: "echo", input: {}, parentTask: turn.taskId, hops: 0 })).metadata
  }
  const { runner } = await beginRunnerLife(createFolder(), { tools: [gated.tool, echo], continueTurn: body })
  const { id } = await runner.start({ tool: "gated", input: {}, ...ORIGIN })
  expect(await runner.start({ tool: "echo", input: {}, parentTask: id, hops: 1 })).toMatchObject({
    metadata: { hops: 2 },
  })
  const start = { session: createSessionId(), workspace: DEFAULT_WORKSPACE, model: "a/b", title: "", traceId: null }
  const turn = await runner.beginTurn({ ...start, parentTask: id, operations: [] }, body)
  expect(await turn.ended).toMatchObject({ status: "completed", patch: { payload: { hops: 2 } } })
})

test("the hops of a call are counted, and cannot be written", async () => {
  const { runner } = await beginRunnerLife(createFolder(), { tools: [echo] })
  const call = { tool: "echo", input: {} }
  for (const hops of [-1, 0.5, Number.NaN]) {
    await expect(runner.start({ ...call, hops })).rejects.toMatchObject({ code: "invalid_input" })
  }
  await expect(runner.start({ ...call, metadata: { hops: 0 } })).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("may not hold `hops`"),
  })
})
