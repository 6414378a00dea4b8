import { join } from "node:path"
import { expect, test } from "vitest"
import { z } from "zod"
import { isMeanwhileError } from "../../src/base/error.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { readBytes } from "../support/stored.ts"
import { createWorkplace } from "../support/workplace.ts"

const SECRET = "sk-test1234567890abcdefghij"

test("what is stored of a task never holds a secret", async () => {
  const gated = createGatedTool()
  const { meanwhile, directory } = await createWorkplace({ tools: [gated.tool] })
  const { tasks } = meanwhile
  const call = {
    tool: "gated",
    input: { name: `with ${SECRET}` },
    title: `title ${SECRET}`,
    metadata: { note: `metadata ${SECRET}`, password: "correct horse" },
  }
  const completed = await tasks.start(call)
  const failed = await tasks.start(call)
  const cancelled = await tasks.start(call)
  const promoted = tasks.execute(call)
  for (const number of [1, 2, 3, 4]) {
    const { context, input } = await gated.call(number)
    expect(input.name).toBe(`with ${SECRET}`)
    context.progress({ phase: `phase ${SECRET}`, line: `line ${SECRET}` })
  }
  await promoted.promote()
  await tasks.cancel(cancelled.id, { reason: `because ${SECRET}` })
  ;(await gated.call(1)).finish({ result: SECRET, api_key: "not shaped like one" })
  ;(await gated.call(2)).fail(new Error(`no ${SECRET}`))
  ;(await gated.call(3)).finish(SECRET)
  ;(await gated.call(4)).finish(SECRET)
  for (const { id } of [completed, failed, cancelled, { id: promoted.taskId }])
    await tasks.result(id, { waitMs: 20_000 })
  expect((await tasks.get(completed.id)).task).toMatchObject({
    title: "title [redacted]",
    input: { name: "with [redacted]" },
    metadata: { note: "metadata [redacted]", password: "[redacted]" },
    patch: { payload: { result: "[redacted]", api_key: "[redacted]" } },
    progress: { phase: "phase [redacted]", line: "line [redacted]" },
  })
  expect((await tasks.get(failed.id)).task).toMatchObject({ failure: { message: "no [redacted]" } })
  const bytes = await readBytes(join(directory, "data"))
  for (const hidden of [SECRET, "correct horse", "not shaped like one"]) expect(bytes).not.toContain(hidden)
  expect(bytes).toContain("[redacted]")
})

test("a task with a secret in its input runs again in the process that knows it, and nowhere else", async () => {
  const gated = createGatedTool()
  const { meanwhile, another } = await createWorkplace({ tools: [gated.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: { name: SECRET } })
  ;(await gated.call(1)).fail(new Error("not this time"))
  await meanwhile.tasks.result(id, { waitMs: 20_000 })
  const second = await another()
  await expect(second.tasks.retry(id)).rejects.toMatchObject({
    code: "secret_not_kept",
    message: expect.stringContaining("Start it again with the secret"),
  })
  expect((await meanwhile.tasks.retry(id)).run).toBe(2)
  const { input, finish } = await gated.call(2)
  expect(input.name).toBe(SECRET)
  finish()
  expect((await meanwhile.tasks.result(id, { waitMs: 20_000 })).task.status).toBe("completed")
})

test("a task with a secret in its input runs again after the worker that took it lost its lease", async () => {
  const gated = createGatedTool({ obeys: true })
  const clock = createManualClock()
  const { meanwhile, another } = await createWorkplace({ tools: [gated.tool], clock })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: { name: SECRET } })
  ;(await gated.call(1)).fail(new Error("not this time"))
  const { task } = await meanwhile.tasks.result(id, { waitMs: 20_000 })
  const itsClock = createManualClock()
  const second = await another({ clock: itsClock, background: { leaseSeconds: 3 } })
  const { store } = second.engine
  const lost = `worker:${task.inputHeldBy}`
  await eventually("its lease is taken over, and gone", async () => {
    // In small steps, with looks in between: a worker counts no silence from a time when it stood still itself.
    itsClock.advance(50)
    return (await store.leases("worker:")).every(({ key }) => key !== lost)
  })
  clock.advance(5_000)
  await eventually("it has another lease", async () => (await store.leases("worker:")).length === 2)
  await meanwhile.tasks.retry(id)
  expect((await gated.call(2)).input.name).toBe(SECRET)
})

test("a secret is forgotten once another process has cleared its task away, and not before", async () => {
  const gated = createGatedTool({ obeys: true })
  const clock = createManualClock()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock })
  const { tasks, engine } = meanwhile
  const cleared = await tasks.start({ tool: "gated", input: { name: SECRET } })
  const kept = await tasks.start({ tool: "gated", input: { name: SECRET } })
  for (const number of [1, 2]) (await gated.call(number)).fail(new Error("not this time"))
  for (const { id } of [cleared, kept]) await tasks.result(id, { waitMs: 20_000 })
  await engine.store.commit([{ op: "task.strip", taskId: cleared.id }])
  await expect(tasks.retry(cleared.id)).rejects.toMatchObject({ code: "wrong_state" })
  clock.advance(60_000)
  const isForgotten = () =>
    tasks.retry(cleared.id).catch((error: unknown) => isMeanwhileError(error, "secret_not_kept"))
  await eventually("it is forgotten", async () => (await isForgotten()) === true)
  await tasks.retry(kept.id)
  expect((await gated.call(3)).input.name).toBe(SECRET)
})

test("a queued task with a secret ends when the process that knows the secret closes", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile, another } = await createWorkplace({ tools: [gated.tool], background: { maxConcurrentTasks: 1 } })
  await meanwhile.tasks.start({ tool: "gated", input: {} })
  const held = await meanwhile.tasks.start({ tool: "gated", input: { name: SECRET } })
  const plain = await meanwhile.tasks.start({ tool: "gated", input: { name: "plain" } })
  await meanwhile.close()
  const second = await another()
  expect((await second.tasks.get(held.id)).task).toMatchObject({
    status: "interrupted",
    by: "shutdown",
    failure: { code: "secret_not_kept" },
  })
  await gated.call(2)
  expect((await second.tasks.get(plain.id)).task.status).toBe("running")
})

test("a tool gets the raw input, parsed", async () => {
  const seen: unknown[] = []
  const login = defineTool({
    name: "login",
    description: "Takes a password.",
    input: z.object({ password: z.string() }),
    background: { mode: "after" },
    run: async (input) => {
      seen.push(input)
      return null
    },
  })
  const { meanwhile } = await createWorkplace({ tools: [login] })
  const { id } = await meanwhile.tasks.start({ tool: "login", input: { password: "hunter22" } })
  await meanwhile.tasks.result(id, { waitMs: 20_000 })
  expect(seen).toEqual([{ password: "hunter22" }])
  expect((await meanwhile.tasks.get(id)).task.input).toEqual({ password: "[redacted]" })
})
