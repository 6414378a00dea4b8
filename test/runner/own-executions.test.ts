import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, test } from "vitest"
import { processesWith } from "../support/processes.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace, toTestMarker } from "../support/workplace.ts"

const SLEEP = { tool: "run_command", input: { command: "exec sleep 1000" } }

test("commands that a tool began with its own calls end before its stop is confirmed, and it begins no more", async () => {
  const caller = createGatedTool({ obeys: true })
  const { meanwhile, directory } = await createWorkplace({ tools: [caller.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { context } = await caller.call(1)
  const answers = [1, 2, 3].map(() => context.tasks.execute(SLEEP).answer)
  const marker = toTestMarker(directory)
  await eventually("the commands run", () => processesWith(marker).length >= 3)

  await meanwhile.tasks.cancel(id, { reason: "enough" })
  await expect(context.tasks.execute(SLEEP).answer).rejects.toMatchObject({ code: "closed" })
  const { task } = await meanwhile.tasks.result(id, { waitMs: 60_000 })
  expect(processesWith(marker)).toEqual([])
  expect(task).toMatchObject({ status: "cancelled", survivors: [] })
  const reason = "the run of gated that made the call was stopped by person: enough"
  const stopped = { outcome: "cancelled", by: "parent", reason }
  expect(await Promise.all(answers)).toMatchObject([stopped, stopped, stopped])
})

test("a call that a tool does not wait for ends with the tool's run, and an ended run begins no other", async () => {
  const caller = createGatedTool()
  const called = createGatedTool({ name: "called", obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [caller.tool, called.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { context, finish } = await caller.call(1)
  const { answer } = context.tasks.execute({ tool: "called", input: {} })
  const call = await called.call(1)
  finish("done")
  expect(await meanwhile.tasks.result(id, { waitMs: 60_000 })).toMatchObject({ task: { status: "completed" } })
  expect(call.context.signal.aborted).toBe(true)
  const reason = "the run of gated that made the call has ended"
  expect(await answer).toMatchObject({ outcome: "cancelled", by: "parent", reason })
  await expect(context.tasks.execute({ tool: "called", input: {} }).answer).rejects.toMatchObject({ code: "closed" })
  await nextTurn()
  expect(called.calls).toHaveLength(1)
})

test("a call that was promoted outlives the completed run that made it", async () => {
  const caller = createGatedTool()
  const called = createGatedTool({ name: "called", obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [caller.tool, called.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { context, finish } = await caller.call(1)
  const execution = context.tasks.execute({ tool: "called", input: {} })
  const call = await called.call(1)
  expect(await execution.promote()).toBe(true)
  finish("done")
  await meanwhile.tasks.result(id, { waitMs: 60_000 })
  expect(call.context.signal.aborted).toBe(false)
  expect(await meanwhile.tasks.get(execution.taskId)).toMatchObject({ task: { status: "running" } })
})
