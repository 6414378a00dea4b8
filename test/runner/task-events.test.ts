import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import type { Runtime } from "../../src/app.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { TaskEvent } from "../../src/task/event.ts"
import { eventually } from "../support/eventually.ts"
import { openTestRuntime } from "../support/test-engine.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

async function openOne(folder = createFolder(), more: Parameters<typeof openTestRuntime>[0] = {}) {
  const gated = createGatedTool({ obeys: true })
  const plugins = [definePlugin({ kind: "tool", name: "test", tools: [gated.tool] })]
  const runtime = await openTestRuntime({ dataDirectory: join(folder, "data"), environment: {}, plugins, ...more })
  onTestFinished(() => runtime.close())
  return { ...gated, runtime, folder }
}

async function readAll(events: AsyncIterable<TaskEvent>): Promise<readonly TaskEvent[]> {
  const read: TaskEvent[] = []
  for await (const event of events) read.push(event)
  return read
}

const typesOf = (events: readonly TaskEvent[]): readonly string[] => events.map(({ body }) => body.type)
const startIn = ({ tasks }: Runtime) => tasks.start({ tool: "gated", input: { name: "one" } })

test("the events of a task without a session are told from the first to the last, and then no more", async () => {
  const { runtime, call } = await openOne()
  const { id } = await startIn(runtime)
  const reading = readAll(runtime.tasks.events(id.slice(0, 8)))
  ;(await call(1)).finish("done")
  const events = await reading
  expect(typesOf(events)).toEqual(["task.queued", "task.started", "task.completed"])
  expect(events.map(({ sequence }) => sequence)).toEqual([1, 2, 3])
  expect(await readAll(runtime.tasks.events(id))).toEqual(events)
})

test("a reader goes on from the last event that it knows, and misses and repeats none", async () => {
  const { runtime, call } = await openOne()
  const { id } = await startIn(runtime)
  const gated = await call(1)
  const begun: TaskEvent[] = []
  for await (const event of runtime.tasks.events(id)) {
    begun.push(event)
    if (event.body.type === "task.started") break
  }
  gated.finish("done")
  const rest = await readAll(runtime.tasks.events(id, { after: begun.at(-1)?.sequence ?? 0 }))
  expect(typesOf([...begun, ...rest])).toEqual(["task.queued", "task.started", "task.completed"])
})

test("a retry after the end is read on from there, and one before the end belongs to the same reading", async () => {
  const { runtime, call } = await openOne()
  const { id } = await startIn(runtime)
  const reading = readAll(runtime.tasks.events(id))
  ;(await call(1)).fail(new Error("no"))
  const first = await reading
  expect(typesOf(first).at(-1)).toBe("task.failed")
  await runtime.tasks.retry(id)
  const again = readAll(runtime.tasks.events(id, { after: first.at(-1)?.sequence ?? 0 }))
  ;(await call(2)).finish("done")
  const second = await again
  expect(new Set(second.map(({ run }) => run))).toEqual(new Set([2]))
  expect(typesOf(second).at(-1)).toBe("task.completed")
  const sequences = [...first, ...second].map(({ sequence }) => sequence)
  expect(sequences).toEqual(sequences.map((_, index) => index + 1))
})

test("another process reads the events of a task as they come, and after that process has ended", async () => {
  const here = await openOne()
  const there = await openOne(here.folder, { takesWork: false })
  const { id } = await startIn(here.runtime)
  const reading = readAll(there.runtime.tasks.events(id))
  ;(await here.call(1)).finish("done")
  const events = await reading
  expect(typesOf(events)).toEqual(["task.queued", "task.started", "task.completed"])
  await here.runtime.close()
  expect(await readAll(there.runtime.tasks.events(id, { after: 1 }))).toEqual(events.slice(1))
})

test("an event whose wake-up was lost is told at the next look", async () => {
  const clock = createManualClock()
  const { runtime, call } = await openOne(createFolder(), { clock })
  Object.assign(runtime.engine.bus, { subscribeTask: () => () => undefined })
  const { id } = await startIn(runtime)
  const reading = readAll(runtime.tasks.events(id))
  const gated = await call(1)
  gated.finish("done")
  await eventually("it has ended", async () => (await runtime.tasks.get(id)).task.status === "completed")
  const isRead = reading.then(() => true)
  await eventually("it is read", () => {
    clock.advance(1_000)
    return Promise.race([isRead, Promise.resolve(false)])
  })
  expect(typesOf(await reading).at(-1)).toBe("task.completed")
})

test("a reading ends with its signal, when its reader leaves, and with the runtime; the task goes on", async () => {
  const { runtime, call } = await openOne()
  const { id } = await startIn(runtime)
  const gated = await call(1)
  const signalled = new AbortController()
  const reading = readAll(runtime.tasks.events(id, { signal: signalled.signal }))
  const left = runtime.tasks.events(id, { after: 2 })
  const pending = left.next()
  await left.return()
  expect(await pending).toMatchObject({ done: true })
  signalled.abort()
  expect(typesOf(await reading)).toEqual(["task.queued", "task.started"])
  expect((await runtime.tasks.get(id)).task.status).toBe("running")
  const until = readAll(runtime.tasks.events(id))
  gated.finish("done")
  expect(typesOf(await until).at(-1)).toBe("task.completed")
  const second = await startIn(runtime)
  const closed = runtime.tasks.events(second.id)
  expect((await closed.next()).value).toMatchObject({ sequence: 1 })
  const rest = readAll(closed)
  await runtime.close()
  expect(typesOf(await rest)).not.toContain("task.completed")
})

test("a reading ends when the task is removed", async () => {
  const { runtime, call } = await openOne()
  const { id } = await startIn(runtime)
  ;(await call(1)).finish("done")
  await runtime.tasks.result(id, { waitMs: 30_000 })
  const events = runtime.tasks.events(id)
  expect((await events.next()).value).toMatchObject({ sequence: 1 })
  expect(await runtime.tasks.remove(id)).toBe(true)
  expect((await readAll(events)).length).toBeLessThanOrEqual(2)
})

test.each([
  ["an unknown id", "00000000-0000-4000-8000-000000000000", 0, "not_found"],
  ["another workspace's task", "", 0, "not_found"],
  ["a place that is none", "", -1, "invalid_input"],
  ["a place that is no number", "", Number.NaN, "invalid_input"],
])("%s is refused", async (what, given, after, code) => {
  const { runtime } = await openOne()
  const id = given || (await startIn(runtime)).id
  const workspace = what.includes("workspace") ? ("other" as never) : undefined
  await expect(runtime.tasks.events(id, { after }, workspace).next()).rejects.toMatchObject({ code })
})
