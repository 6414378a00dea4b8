import { existsSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { createTaskId, type SessionId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

test("ten starts with one key at once are one task, and so are ten calls in the foreground", async () => {
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const call = { tool: "gated", input: {}, idempotencyKey: "the key" }
  const started = await Promise.all(Array.from({ length: 10 }, () => meanwhile.tasks.start(call)))
  const executions = Array.from({ length: 10 }, () => meanwhile.tasks.execute(call))
  ;(await gated.call(1)).finish("once")
  const answers = await Promise.all(executions.map(({ answer }) => answer))
  expect(new Set(started.map(({ id }) => id)).size).toBe(1)
  for (const answer of answers) expect(answer).toMatchObject({ outcome: "completed", patch: { payload: "once" } })
  expect(await meanwhile.tasks.execute(call).answer).toMatchObject({ outcome: "completed", patch: { payload: "once" } })
  expect(gated.calls).toHaveLength(1)
  expect((await meanwhile.tasks.list({})).items).toHaveLength(1)
  const after = await Promise.all([1, 2, 3, 4].map(() => meanwhile.tasks.start({ tool: "gated", input: {} })))
  expect(after.map(({ status }) => status)).toEqual(["running", "running", "running", "running"])
  for (const number of [2, 3, 4, 5]) (await gated.call(number)).finish()
})

test("a call with a key passes its output on, can be promoted once, and can be cancelled", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  let printed = ""
  const options = { onOutput: (text: string) => void (printed += text) }
  const watched = meanwhile.tasks.execute({ tool: "gated", input: {}, idempotencyKey: "a" }, options)
  const call = await gated.call(1)
  call.context.output.write("first\nsecond, without an end of line")
  call.finish()
  await watched.answer
  expect(printed).toBe("first\nsecond, without an end of line")
  expect(await watched.promote()).toBe(false)

  const promoted = meanwhile.tasks.execute({ tool: "gated", input: {}, idempotencyKey: "b" })
  await gated.call(2)
  expect(await promoted.promote()).toBe(true)
  expect(await promoted.promote()).toBe(false)
  expect(await promoted.answer).toMatchObject({ outcome: "promoted" })

  const cancelled = meanwhile.tasks.execute({ tool: "gated", input: {}, idempotencyKey: "c" })
  await gated.call(3)
  cancelled.cancel({ by: "model", reason: "changed its mind" })
  expect(await cancelled.answer).toMatchObject({ outcome: "cancelled", by: "model", reason: "changed its mind" })
})

test("a task and the step that asked for it are written together, and a second ask returns the same task", async () => {
  const parent = createGatedTool({ name: "parent", obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [parent.tool, echo] })
  const { tasks, engine } = meanwhile
  const asking = await tasks.start({ tool: "parent", input: {} })
  const askedBy = { taskId: asking.id, run: 1, key: "call 1" }
  const first = await tasks.start({ tool: "echo", input: { value: 1 }, askedBy })
  const [step] = await engine.store.steps(asking.id, 1)
  expect(step).toMatchObject({ key: "call 1", state: "finished", result: { taskId: first.id } })
  const second = await tasks.start({ tool: "echo", input: { value: 2 }, askedBy })
  expect(second.id).toBe(first.id)
  expect((await tasks.list({ tool: "echo" })).items).toHaveLength(1)
  const ofNobody = { taskId: createTaskId(), run: 1, key: "call 1" }
  await expect(tasks.start({ tool: "echo", input: {}, askedBy: ofNobody })).rejects.toMatchObject({ code: "not_found" })
  expect((await tasks.list({ tool: "echo" })).items).toHaveLength(1)
})

test("a promoted call of a step that already has a task gives way to that task", async () => {
  const gated = createGatedTool({ obeys: true })
  const parent = createGatedTool({ name: "parent", obeys: true })
  const { meanwhile, directory } = await createWorkplace({ tools: [parent.tool, gated.tool] })
  const { tasks } = meanwhile
  const asking = await tasks.start({ tool: "parent", input: {} })
  const call = { tool: "gated", input: {}, askedBy: { taskId: asking.id, run: 1, key: "call 1" } }
  const first = tasks.execute(call)
  const second = tasks.execute(call)
  const { context } = await gated.call(2)
  await context.step("taken for nothing", async () => null)
  for (const call of gated.calls) call.context.output.write("printed\n")
  expect([await first.promote(), await second.promote()]).toEqual([true, true])
  const answers = [await first.answer, await second.answer]
  for (const answer of answers) expect(answer).toMatchObject({ outcome: "promoted", task: { id: first.taskId } })
  const isStopped = (taskId: string) =>
    gated.calls.find(({ context }) => context.taskId === taskId)?.context.signal.aborted
  expect([first, second].map(({ taskId }) => isStopped(taskId))).toEqual([false, true])
  expect((await tasks.list({ tool: "gated" })).items).toHaveLength(1)
  const spool = join(directory, "data", "spool")
  await eventually("nothing is left of the other", () => !existsSync(join(spool, second.taskId)))
  expect(existsSync(join(spool, first.taskId))).toBe(true)
})

test("a delayed start runs when its time has come", async () => {
  const clock = createManualClock()
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock })
  const { id, status } = await meanwhile.tasks.start({ tool: "gated", input: {}, delayMs: 400 })
  expect(status).toBe("queued")
  clock.advance(399)
  expect((await meanwhile.tasks.get(id)).task.status).toBe("queued")
  expect(gated.calls).toHaveLength(0)
  await eventually("it runs", () => {
    clock.advance(500)
    return gated.calls.length > 0
  })
  expect((await meanwhile.tasks.get(id)).task.status).toBe("running")
})

test("the queue is by priority, then first come first served, and says the place", async () => {
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], background: { maxConcurrentTasks: 1 } })
  const { tasks } = meanwhile
  const start = (name: string, priority = 0) => tasks.start({ tool: "gated", input: { name }, priority })
  await start("running")
  const a = await start("a")
  const b = await start("b")
  const urgent = await start("urgent", 5)
  const place = async (id: string) => (await tasks.get(id)).placeInQueue
  expect([await place(urgent.id), await place(a.id), await place(b.id)]).toEqual([1, 2, 3])
  await tasks.prioritize(b.id, 9)
  expect([await place(b.id), await place(urgent.id), await place(a.id)]).toEqual([1, 2, 3])
  for (let number = 1; number <= 4; number++) (await gated.call(number)).finish()
  expect(gated.calls.map(({ input }) => input.name)).toEqual(["running", "b", "urgent", "a"])
  expect((await tasks.result(a.id, { waitMs: 20_000 })).placeInQueue).toBeNull()
})

test("a later task does not overtake one that waits behind a full session", async () => {
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], background: { maxConcurrentPerSession: 1 } })
  const session = "one" as SessionId
  const start = (name: string) => meanwhile.tasks.start({ tool: "gated", input: { name }, session })
  await start("first")
  await start("second")
  const call = await gated.call(1)
  call.finish()
  await meanwhile.tasks.result(call.context.taskId, { waitMs: 20_000 })
  const third = await start("third")
  expect((await gated.call(2)).input.name).toBe("second")
  expect(third.status).toBe("queued")
  ;(await gated.call(2)).finish()
  ;(await gated.call(3)).finish()
})

test("every kind of end gives its slot back, and a promotion may exceed the limit", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], background: { maxConcurrentTasks: 1 } })
  const { tasks } = meanwhile
  let number = 0
  const next = async () => {
    const { id, status } = await tasks.start({ tool: "gated", input: {} })
    expect(status).toBe("running")
    return { id, call: await gated.call(++number) }
  }
  const ends: ((it: Awaited<ReturnType<typeof next>>) => unknown)[] = [
    ({ call }) => call.finish(),
    ({ call }) => call.fail(new Error("broken")),
    ({ id }) => tasks.cancel(id),
    ({ call }) => call.context.spend({ tokens: 1 }),
  ]
  for (const end of ends) {
    const it = await next()
    await end(it)
    if (end === ends[3]) it.call.finish()
    await tasks.result(it.id, { waitMs: 20_000 })
  }
  const { id } = await next()
  const execution = tasks.execute({ tool: "gated", input: {} })
  await gated.call(++number)
  expect(await execution.promote()).toBe(true)
  const queued = await tasks.start({ tool: "gated", input: {} })
  expect(queued.status).toBe("queued")
  await tasks.cancel(id)
  await tasks.result(id, { waitMs: 20_000 })
  expect((await tasks.get(queued.id)).task.status).toBe("queued")
  await tasks.cancel(execution.taskId)
  await gated.call(++number)
})

test("a queued task of a plugin that is taken away stays queued, and the slot of a running one is free again", async () => {
  const gated = createGatedTool({ name: "mine", obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [echo], background: { maxConcurrentTasks: 1 } })
  const plugin = definePlugin({ kind: "tool", name: "guest", tools: [gated.tool] })
  await meanwhile.plugins.register(plugin)
  const running = await meanwhile.tasks.start({ tool: "mine", input: {} })
  const queued = await meanwhile.tasks.start({ tool: "mine", input: {} })
  await meanwhile.plugins.unexpose("guest")
  await meanwhile.tasks.cancel(running.id)
  await meanwhile.tasks.result(running.id, { waitMs: 20_000 })
  expect((await meanwhile.tasks.get(queued.id)).task.status).toBe("queued")
  const other = await meanwhile.tasks.start({ tool: "echo", input: { value: 1 } })
  expect((await meanwhile.tasks.result(other.id, { waitMs: 20_000 })).task.status).toBe("completed")
})
