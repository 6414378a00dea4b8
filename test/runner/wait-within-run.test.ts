import { expect, test } from "vitest"
import { z } from "zod"
import { defineTool, type Tool } from "../../src/plugin/tool.ts"
import { createSessionId } from "../../src/task/id.ts"
import { createGroupDesk } from "../support/group-desk.ts"

/** Long enough that a wait ends only by what it waits for. */
const LONG_MS = 1e9

/** Starts a task and waits for it within its own run, as a retained turn does. */
function createWaitingTool(onAnswer: (reason: string) => void): Tool {
  return defineTool({
    name: "waiting",
    description: "Starts another task and waits for it.",
    input: z.object({}),
    background: { mode: "always" },
    async run(_input, { tasks }) {
      const { id } = await tasks.start({ tool: "gated", input: { name: "below" } })
      const { reason } = await tasks.waitFor({ tasks: [id], limitMs: LONG_MS, consume: true })
      onAnswer(reason)
      return reason
    },
  })
}

test("C7: with one slot, a run that waits for its own task does not deadlock, and takes its slot again", async () => {
  const tool = createWaitingTool(() => {})
  const desk = await createGroupDesk({ background: { maxConcurrentTasks: 1 }, tools: [tool] })
  const above = await desk.runner.start({ tool: "waiting", input: {} })
  await desk.finish("below")
  const { task } = await desk.runner.result(above.id, { waitMs: LONG_MS })
  expect(task).toMatchObject({ status: "completed", patch: { payload: "met" } })
  const next = await desk.start("next")
  await desk.finish("next")
  expect((await desk.runner.result(next.id, { waitMs: LONG_MS })).task.status).toBe("completed")
})

test("a run that is stopped while it waits is released", async () => {
  const reasons: string[] = []
  const tool = createWaitingTool((reason) => reasons.push(reason))
  const desk = await createGroupDesk({ tools: [tool] })
  const above = await desk.runner.start({ tool: "waiting", input: {} })
  await desk.call("below")
  await desk.runner.cancel(above.id)
  expect((await desk.runner.result(above.id, { waitMs: LONG_MS })).task.status).toBe("cancelled")
  expect(reasons).toEqual(["released"])
})

test("within a turn's call, results that a wait shows are claimed by the step that asked, and used once it is kept", async () => {
  const tool = defineTool({
    name: "ask",
    description: "Waits for what it is given.",
    input: z.object({ tasks: z.array(z.string()) }),
    async run(input, { tasks }) {
      const { reason } = await tasks.waitFor({ ...input, limitMs: LONG_MS, consume: true })
      return reason
    },
  })
  const desk = await createGroupDesk({ tools: [tool] })
  const { runner, engine, session } = desk
  const turn = await desk.start("turn")
  const mine = await desk.start("mine")
  const theirs = await desk.start("theirs", { session: createSessionId() })
  await desk.finish("mine")
  await desk.finish("theirs")
  const askedBy = { taskId: turn.id, run: 1, key: "call 1" }
  const input = { tasks: [mine.id, theirs.id] }
  expect(await runner.execute({ tool: "ask", input, session, askedBy }).answer).toMatchObject({ outcome: "completed" })
  const notices = await engine.store.notices({}, 9)
  expect(notices.find(({ taskId }) => taskId === mine.id)).toMatchObject({ state: "claimed", claimedBy: askedBy })
  expect(notices.find(({ taskId }) => taskId === theirs.id)?.state).toBe("pending")
  const run = { taskId: turn.id, run: 1 }
  await engine.store.commit([{ op: "step.finish", run, key: "call 1", result: "met", settlesClaims: true }])
  expect(await engine.store.notices({ taskId: mine.id }, 9)).toMatchObject([{ state: "consumed" }])
})
