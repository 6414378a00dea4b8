import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

test("progress is stored now and then, and the newest line is what people see", async () => {
  const clock = createManualClock()
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock })
  const { tasks, engine } = meanwhile
  const { id } = await tasks.start({ tool: "gated", input: {} })
  const { context } = await gated.call(1)
  for (let done = 1; done <= 1_000; done++) context.progress({ done, total: 1_000, line: `file ${done}` })
  context.progress({ phase: "packing" })
  clock.advance(500)
  const { task, lastLine } = await eventually("it is stored", async () => {
    const view = await tasks.get(id)
    return view.task.progress && view
  })
  expect(task.progress).toEqual({ done: 1_000, total: 1_000, phase: "packing", line: "file 1000" })
  expect(lastLine).toBe("file 1000")
  const events = await engine.store.events(id, 0, 100)
  expect(events.filter(({ body }) => body.type === "task.progressed")).toHaveLength(1)
})

test("without a line of progress the newest line of output is shown", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { context } = await gated.call(1)
  expect(await meanwhile.tasks.get(id)).toMatchObject({ lastLine: null, outputBytes: 0 })
  context.output.write("first\nsecond\n")
  expect(await meanwhile.tasks.get(id)).toMatchObject({ lastLine: "second", outputBytes: 13 })
})

test("an estimate is the tool's own guess until there is history, by shape of call", async () => {
  const clock = createManualClock()
  const gated = createGatedTool({
    estimateMs: () => 30_000,
    shape: (input) => (input as { name: string }).name,
  })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool, echo], clock })
  const { tasks } = meanwhile
  const guess = { medianMs: 30_000, p90Ms: 30_000, source: "guess" }
  expect(await tasks.estimate({ tool: "gated", input: { name: "build" } })).toEqual(guess)
  expect(await tasks.estimate({ tool: "echo", input: {} })).toBeNull()
  for (let number = 1; number <= 3; number++) {
    const execution = tasks.execute({ tool: "gated", input: { name: "build" } })
    const { finish } = await gated.call(number)
    clock.advance(2_000)
    finish()
    await execution.answer
  }
  const learned = await tasks.estimate({ tool: "gated", input: { name: "build" } })
  expect(learned?.source).toBe("history")
  expect(learned?.medianMs).toBeGreaterThan(1_500)
  expect(learned?.medianMs).toBeLessThan(2_600)
  expect(await tasks.estimate({ tool: "gated", input: { name: "test" } })).toEqual(guess)
})

test("a result that a given-up run hands back later is kept beside its end, whatever it reported meanwhile", async () => {
  const clock = createManualClock()
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock })
  const { tasks, engine } = meanwhile
  const { id } = await tasks.start({ tool: "gated", input: {} })
  const call = await gated.call(1)
  await tasks.cancel(id)
  clock.advance(60_000)
  expect((await tasks.result(id, { waitMs: 60_000 })).task).toMatchObject({ status: "cancelled", patch: null })
  call.context.progress({ line: "still at it" })
  call.context.spend({ tokens: 3 })
  await expect(call.context.step("a step", async () => null)).rejects.toMatchObject({ name: "MeanwhileError" })
  clock.advance(1_000)
  call.finish("too late")
  const late = await eventually("it is kept", async () => {
    const events = await engine.store.events(id, 0, 100)
    return events.some(({ body }) => body.type === "task.finished_late") && (await tasks.get(id)).task
  })
  expect(late).toMatchObject({ status: "cancelled", patch: { payload: "too late" } })
})

test("a result that comes after the stop was accepted changes nothing and stays readable", async () => {
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const call = await gated.call(1)
  await meanwhile.tasks.cancel(id)
  call.finish("done all the same")
  expect((await meanwhile.tasks.result(id, { waitMs: 20_000 })).task).toMatchObject({
    status: "cancelled",
    survivors: [],
    patch: { payload: "done all the same" },
  })
})

test("spending that makes no sense is refused and counts for nothing", async () => {
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {}, tokenLimit: 10 })
  const { context, finish } = await gated.call(1)
  for (const tokens of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
    expect(() => context.spend({ tokens })).toThrow(expect.objectContaining({ code: "invalid_input" }))
  }
  context.spend({ tokens: 10 })
  finish()
  const { task } = await meanwhile.tasks.result(id, { waitMs: 20_000 })
  expect(task).toMatchObject({ status: "completed", usage: { tokens: 10, costMicros: 0 } })
})

test("a tool that cannot name the shape of its call still gives its answer", async () => {
  const gated = createGatedTool({
    shape: () => {
      throw new Error("no shape")
    },
  })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const execution = meanwhile.tasks.execute({ tool: "gated", input: {} })
  ;(await gated.call(1)).finish("whole")
  expect(await execution.answer).toMatchObject({ outcome: "completed", patch: { payload: "whole" } })
})
