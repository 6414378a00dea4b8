import { expect, onTestFinished, test } from "vitest"
import { createRuntime, type Runtime, type RuntimeOptions } from "../../src/app.ts"
import { systemClock } from "../../src/base/clock.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { createTestPostgres } from "../support/postgres/engine.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { Tool } from "../../src/plugin/tool.ts"
import { allowAll } from "../../src/runner/admit/permission.ts"
import type { Dispatcher } from "../../src/task/dispatcher.ts"
import { eventually } from "../support/eventually.ts"
import { echo, createGatedTool } from "../support/tools.ts"

async function openStore() {
  const { another, dispose } = await createTestPostgres()
  onTestFinished(dispose)
  async function open(tools: readonly Tool[], options: Partial<RuntimeOptions> = {}): Promise<Runtime> {
    const runtime = await createRuntime({
      engine: await another(),
      environment: {},
      model: createScriptedModel(["Hello."]),
      permissions: allowAll,
      plugins: [definePlugin({ kind: "tool", name: "test", tools })],
      ...options,
    })
    onTestFinished(() => runtime.close())
    return runtime
  }
  return { open, another }
}

test("a task that is started in one runtime is run by another, and its result comes back", async () => {
  const { open } = await openStore()
  const asking = await open([echo], { takesWork: false })
  await open([echo])
  const { id } = await asking.tasks.start({ tool: "echo", input: { value: 7 } })
  const { task } = await asking.tasks.result(id, { waitMs: 30_000 })
  expect(task).toMatchObject({ status: "completed" })
})

test("a stop from another process reaches a run at once, however much this one writes", {
  timeout: 20_000,
}, async () => {
  const { open } = await openStore()
  const agent = createGatedTool({ name: "agent", kind: "agent", obeys: true })
  const asking = await open([agent.tool], { takesWork: false })
  // No time passes in this runtime: a look that is put off for a moment never comes.
  await open([agent.tool], { clock: createManualClock(Date.now()) })
  const { id } = await asking.tasks.start({ tool: "agent", input: {} })
  const { context } = await agent.call(1)
  for (const key of ["one", "two"]) await context.step(key, async () => "written")
  await asking.tasks.cancel(id)
  await eventually("the signal", () => context.signal.aborted)
})

test("a stop reaches the runtime in which the task runs", async () => {
  const { open } = await openStore()
  const gated = createGatedTool({ obeys: true })
  const asking = await open([gated.tool], { takesWork: false })
  await open([gated.tool])
  const { id } = await asking.tasks.start({ tool: "gated", input: {} })
  const { context } = await gated.call(1)
  await asking.tasks.cancel(id)
  const { task } = await asking.tasks.result(id, { waitMs: 30_000 })
  expect(task.status).toBe("cancelled")
  expect(context.signal.aborted).toBe(true)
})

test("a task goes to a runtime that has its tool, and runtimes share what is queued", async () => {
  const { open } = await openStore()
  const gated = createGatedTool()
  const asking = await open([gated.tool], { takesWork: false })
  await open([])
  const first = await open([gated.tool], { background: { maxConcurrentTasks: 2 } })
  const second = await open([gated.tool], { background: { maxConcurrentTasks: 2 } })
  const started = await Promise.all([1, 2, 3, 4].map(() => asking.tasks.start({ tool: "gated", input: {} })))
  await gated.call(4)
  for (const { finish } of gated.calls) finish()
  for (const { id } of started)
    expect((await asking.tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
  for (const { tasks } of [first, second])
    expect(await tasks.list({ statuses: ["running"] })).toMatchObject({ items: [] })
})

test("a runtime whose clock is ahead of the server's does not look more often for a delayed task", async () => {
  const { open, another } = await openStore()
  const engine = await another()
  let looks = 0
  const dispatcher: Dispatcher = {
    ...engine.dispatcher,
    take(request) {
      looks += 1
      return engine.dispatcher.take(request)
    },
  }
  const clock = { ...systemClock, now: () => Date.now() + 60_000 }
  const { tasks } = await open([echo], { engine: { ...engine, dispatcher }, clock })
  const { id } = await tasks.start({ tool: "echo", input: {}, delayMs: 1_000 })
  expect((await tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
  expect(looks).toBeLessThan(20)
})

test("a conversation is kept in the store, and goes on in another runtime", async () => {
  const { open } = await openStore()
  const one = await open([])
  const session = await one.createSession()
  await session.send("Hi.")
  await one.close()
  const other = await open([])
  const again = await other.openSession(session.id)
  expect((await again.send("Still there?")).text).toBe("Hello.")
})
