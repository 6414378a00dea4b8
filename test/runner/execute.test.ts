import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

test("a call that ends in time returns its result and leaves no record and no file", async () => {
  const { meanwhile, directory } = await createWorkplace({ tools: [echo] })
  const answer = await meanwhile.tasks.execute({ tool: "echo", input: { value: 7 } }).answer
  expect(answer).toMatchObject({ outcome: "completed", patch: { payload: 7 } })
  expect((await meanwhile.tasks.list({})).items).toEqual([])
  expect(existsSync(join(directory, "data", "spool"))).toBe(false)
})

test("a call past its threshold goes on as a task and is not run again", async () => {
  const clock = createManualClock()
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock })
  const execution = meanwhile.tasks.execute({ tool: "gated", input: {} })
  const call = await gated.call(1)
  clock.advance(10_000)
  const answer = await execution.answer
  expect(answer).toMatchObject({
    outcome: "promoted",
    afterMs: 10_000,
    task: { status: "running", id: execution.taskId },
  })
  call.finish("late but whole")
  const { task } = await meanwhile.tasks.result(execution.taskId, { waitMs: 20_000 })
  expect(task).toMatchObject({ status: "completed", patch: { payload: "late but whole" } })
  expect(gated.calls).toHaveLength(1)
})

test("ending exactly at the threshold gives exactly one answer", async () => {
  const clock = createManualClock()
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock })
  const execution = meanwhile.tasks.execute({ tool: "gated", input: {} })
  const call = await gated.call(1)
  call.finish("done")
  clock.advance(10_000)
  const answer = await execution.answer
  expect(answer.outcome).toBe("promoted")
  const { task } = await meanwhile.tasks.result(execution.taskId, { waitMs: 20_000 })
  expect(task).toMatchObject({ status: "completed", patch: { payload: "done" } })
})

test("a person can promote a call early", async () => {
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const execution = meanwhile.tasks.execute({ tool: "gated", input: {} })
  const call = await gated.call(1)
  expect(await execution.promote()).toBe(true)
  expect(await execution.promote()).toBe(false)
  expect((await execution.answer).outcome).toBe("promoted")
  call.finish()
  expect((await meanwhile.tasks.result(execution.taskId, { waitMs: 20_000 })).task.status).toBe("completed")
})

test("a call that has its answer cannot be promoted any more", async () => {
  const { meanwhile } = await createWorkplace({ tools: [echo] })
  const execution = meanwhile.tasks.execute({ tool: "echo", input: { value: 7 } })
  await execution.answer
  expect(await execution.promote()).toBe(false)
  expect((await meanwhile.tasks.list({})).items).toEqual([])
})
