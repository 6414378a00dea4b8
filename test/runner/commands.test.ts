import { expect, test } from "vitest"
import type { SessionId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const SESSION = "a session" as SessionId

test("a result is there at once, or after a wait that time or a signal ends", async () => {
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { tasks } = meanwhile
  const { id } = await tasks.start({ tool: "gated", input: {} })
  expect((await tasks.result(id)).task.status).toBe("running")
  expect((await tasks.result(id, { waitMs: 20 })).task.status).toBe("running")
  const impatience = new AbortController()
  const waiting = tasks.result(id, { waitMs: 60_000, signal: impatience.signal })
  impatience.abort()
  expect((await waiting).task.status).toBe("running")
  const unaborted = new AbortController().signal
  expect((await tasks.result(id, { signal: unaborted })).task.status).toBe("running")
  const waiters = [1, 2, 3].map(() => tasks.result(id.slice(0, 13), { waitMs: 60_000 }))
  ;(await gated.call(1)).finish("whole")
  for (const { task } of await Promise.all(waiters)) expect(task).toMatchObject({ patch: { payload: "whole" } })
})

test("a look at a running task asks for no worker but its own", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { tasks, engine } = meanwhile
  const { id } = await tasks.start({ tool: "gated", input: {} })
  await gated.call(1)
  Object.assign(engine.store, { workers: () => Promise.reject(new Error("all of them were asked for")) })
  const { worker } = await tasks.get(id)
  expect(worker).toMatchObject({ pid: process.pid, where: "process", isSilent: false })
})

test("lists come in pages, newest first, and filters hold together", async () => {
  const { meanwhile } = await createWorkplace({ tools: [echo] })
  const { tasks } = meanwhile
  const ids: string[] = []
  for (let number = 0; number < 7; number++) {
    const batch = number % 2 === 0 ? "even" : "odd"
    const { id } = await tasks.start({ tool: "echo", input: {}, batch, session: number > 4 ? SESSION : null })
    await tasks.result(id, { waitMs: 20_000 })
    ids.unshift(id)
  }
  const seen: string[] = []
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor; isFirst = false) {
    const page = await tasks.list({}, { limit: 3, ...(cursor && { cursor }) })
    seen.push(...page.items.map(({ id }) => id))
    cursor = page.cursor
  }
  expect(seen).toEqual(ids)
  expect((await tasks.list({ batch: "even" })).items).toHaveLength(4)
  expect((await tasks.list({ batch: "even", session: SESSION })).items).toHaveLength(1)
  expect((await tasks.list({ session: null })).items).toHaveLength(5)
  expect((await tasks.list({ statuses: ["running"] })).items).toEqual([])
})

test("cancelling stops queued and running tasks, and leaves ended ones as they are", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], background: { maxConcurrentTasks: 1 } })
  const { tasks } = meanwhile
  const running = await tasks.start({ tool: "gated", input: {} })
  const queued = await tasks.start({ tool: "gated", input: {} })
  await gated.call(1)
  expect(await tasks.cancel(queued.id, { by: "model", reason: "not needed" })).toMatchObject({
    status: "cancelled",
    stop: { by: "model", reason: "not needed" },
    survivors: [],
  })
  expect((await tasks.cancel(running.id)).status).toBe("stopping")
  expect((await tasks.cancel(running.id, { by: "model" })).status).toMatch(/stopping|cancelled/)
  const ended = await tasks.result(running.id, { waitMs: 20_000 })
  expect(ended.task).toMatchObject({ status: "cancelled", stop: { by: "person" } })
  expect(await tasks.cancel(running.id)).toEqual(ended.task)
  expect(gated.calls).toHaveLength(1)
})

test("cancelling from another Meanwhile on the same folder reaches the work", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile, another } = await createWorkplace({ tools: [gated.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { context } = await gated.call(1)
  const second = await another()
  expect((await second.tasks.cancel(id, { reason: "from the other side" })).status).toBe("stopping")
  await eventually("the signal", () => context.signal.aborted)
  expect((await second.tasks.result(id, { waitMs: 20_000 })).task).toMatchObject({
    status: "cancelled",
    stop: { by: "person", reason: "from the other side" },
  })
})

test("a retry is a second run with its own output, and supersedes the notice of the first", async () => {
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { tasks, engine } = meanwhile
  const { id } = await tasks.start({ tool: "gated", input: { name: "same" } })
  const first = await gated.call(1)
  first.context.output.write("of run 1\n")
  first.fail(new Error("broken"))
  await tasks.result(id, { waitMs: 20_000 })
  expect((await tasks.retry(id)).run).toBe(2)
  const second = await gated.call(2)
  expect(second.input.name).toBe("same")
  second.context.output.write("of run 2\n")
  second.finish("whole")
  expect((await tasks.result(id, { waitMs: 20_000 })).task).toMatchObject({ status: "completed", run: 2 })
  expect((await tasks.output(id)).text).toBe("of run 2\n")
  expect(await tasks.output(id, { run: 1 })).toMatchObject({ text: "of run 1\n", isComplete: true })
  expect(await engine.store.run(id, 1)).toMatchObject({ status: "failed", failure: { message: "broken" } })
  const states = (await engine.store.notices({ taskId: id }, 10)).map(({ run, state }) => [run, state])
  expect(Object.fromEntries(states)).toEqual({ 1: "superseded", 2: "pending" })
})

test("acknowledging counts the results that were not used before, and cleaning up removes only used ones", async () => {
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { tasks } = meanwhile
  const ids: string[] = []
  for (let number = 1; number <= 3; number++) {
    ids.push((await tasks.start({ tool: "gated", input: {} })).id)
    ;(await gated.call(number)).finish(number)
    await tasks.result(ids.at(-1) ?? "", { waitMs: 20_000 })
  }
  const running = await tasks.start({ tool: "gated", input: {} })
  const [used = "", read = "", unused = ""] = ids
  expect(await tasks.acknowledge([used, "no id", running.id])).toBe(1)
  await expect(tasks.acknowledge(["no id"])).rejects.toMatchObject({ code: "not_found" })
  expect(await tasks.acknowledge([used])).toBe(0)
  await tasks.result(read, { consume: true })
  expect(await tasks.acknowledge([read])).toBe(0)
  expect(await tasks.cleanupCompleted(60_000)).toBe(0)
  expect(await tasks.cleanupCompleted(0)).toBe(2)
  expect((await tasks.list({})).items.map(({ id }) => id).toReversed()).toEqual([unused, running.id])
  ;(await gated.call(4)).finish()
})

test("clearing removes ended tasks, used or not, and never touches live ones", async () => {
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool, echo] })
  const { tasks } = meanwhile
  const running = await tasks.start({ tool: "gated", input: {} })
  const { context, finish } = await gated.call(1)
  context.output.write("still here\n")
  const ended = await tasks.start({ tool: "echo", input: {}, batch: "b" })
  const other = await tasks.start({ tool: "echo", input: {} })
  const third = await tasks.start({ tool: "echo", input: {} })
  for (const { id } of [ended, other, third]) await tasks.result(id, { waitMs: 20_000 })
  expect(await tasks.clear({ statuses: ["running", "queued"] })).toBe(0)
  expect(await tasks.remove(running.id)).toBe(false)
  expect(await tasks.clear({ batch: "b" })).toBe(1)
  expect(await tasks.remove(other.id)).toBe(true)
  await expect(tasks.remove(other.id)).rejects.toMatchObject({ code: "not_found" })
  expect(await tasks.clear({})).toBe(1)
  expect((await tasks.output(running.id)).text).toBe("still here\n")
  finish()
  expect((await tasks.result(running.id, { waitMs: 20_000 })).task.status).toBe("completed")
})
