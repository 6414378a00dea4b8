import { hostname } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { VERSION } from "../../src/base/version.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { createRegistry } from "../../src/plugin/registry.ts"
import type { Tool } from "../../src/plugin/tool.ts"
import { createRunner, type Runner, type RunnerOptions } from "../../src/runner/runner.ts"
import type { Engine } from "../../src/task/engine.ts"
import { ANNOUNCEMENTS } from "../../src/task/worker.ts"
import { eventually } from "../support/eventually.ts"
import { openTestEngine } from "../support/test-engine.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

interface Opened extends Runner {
  /** The tools of its plugin `test` from now on. */
  have(...tools: readonly Tool[]): void
}

const other: Tool = { ...echo, name: "other" }

async function openWorker(
  directory: string,
  { tools = [echo], ...options }: Partial<RunnerOptions> & { engine: Engine; tools?: readonly Tool[] },
): Promise<Opened> {
  const registry = createRegistry()
  let current = tools
  const plugin = Object.defineProperty(definePlugin({ kind: "tool", name: "test", tools }), "tools", {
    get: () => current,
  })
  await registry.register(plugin)
  const runner = await createRunner({ ...options, registry, spoolDirectory: join(directory, "spool") })
  onTestFinished(() => runner.close())
  return Object.assign(runner, {
    have(...next: readonly Tool[]) {
      current = next
      registry.refreshTools("test")
    },
  })
}

function open(directory = createFolder()) {
  return { directory, engine: () => openTestEngine(directory) }
}

/** How often the store was written and asked for workers. */
function watch(engine: Engine) {
  const seen = { announcements: 0, lists: 0, renewals: 0 }
  const commit: typeof engine.store.commit = (operations) => {
    if (operations.some(({ op }) => op === "document.put")) seen.announcements += 1
    if (operations.some(({ op }) => op === "lease.renew")) seen.renewals += 1
    return engine.store.commit(operations)
  }
  const workers: typeof engine.store.workers = () => {
    seen.lists += 1
    return engine.store.workers()
  }
  return { seen, engine: { ...engine, store: { ...engine.store, commit, workers } } }
}

const announced = ({ store }: Engine) => store.documents(ANNOUNCEMENTS.workspace, ANNOUNCEMENTS.collection)

test("a worker announces what it can run, once, and again when its tools change", async () => {
  const { directory, engine } = open()
  const { seen, engine: watched } = watch(await engine())
  const worker = await openWorker(directory, {
    engine: watched,
    takesKinds: ["tool"],
    background: { maxConcurrentTasks: 3, leaseSeconds: 0.6 },
  })
  const [view, ...others] = await worker.workers()
  expect(others).toEqual([])
  expect(view).toMatchObject({ host: hostname(), pid: process.pid, where: "process", running: 0 })
  expect(view?.announcement).toMatchObject({
    version: VERSION,
    takes: "all",
    kinds: ["tool"],
    plugins: { test: ["echo"] },
    concurrency: 3,
  })
  worker.have(echo, other)
  await eventually("others can see it", async () => {
    const [now] = await worker.workers()
    return now?.announcement?.plugins["test"]?.includes("other")
  })
  worker.have(echo, other)
  const { renewals } = seen
  await eventually("the lease is renewed", () => seen.renewals > renewals + 2)
  expect(seen.announcements).toBe(2)
})

test("what a worker has announced goes with it, and with one that takes over from it", async () => {
  const { directory, engine } = open()
  const store = await engine()
  const first = await openWorker(directory, { engine: await engine() })
  expect(await announced(store)).toHaveLength(1)
  await first.close()
  expect(await announced(store)).toEqual([])
  const lost = await engine()
  await openWorker(directory, {
    engine: { ...lost, store: { ...lost.store, commit: refuseRenewals(lost.store.commit) } },
    background: { leaseSeconds: 0.05 },
  })
  const [{ id: lostId } = { id: "" }] = await announced(store)
  await openWorker(directory, { engine: await engine(), background: { leaseSeconds: 0.05 } })
  await eventually("the lost one is forgotten", async () => !(await announced(store)).some(({ id }) => id === lostId))
})

test("what could not be announced is announced later", async () => {
  const { directory, engine } = open()
  const { store, ...rest } = await engine()
  let refusals = 1
  const commit: typeof store.commit = (operations) =>
    operations.some(({ op }) => op === "document.put") && refusals-- > 0
      ? Promise.reject(new Error("the store is away"))
      : store.commit(operations)
  const clock = createManualClock()
  await openWorker(directory, { engine: { ...rest, store: { ...store, commit } }, clock })
  expect(await announced({ ...rest, store })).toEqual([])
  await eventually("it is announced", async () => {
    clock.advance(1_000)
    return (await announced({ ...rest, store })).length === 1
  })
})

test("who only looks announces nothing", async () => {
  const { directory, engine } = open()
  const looking = await openWorker(directory, { engine: await engine(), takesWork: false })
  expect(await announced(await engine())).toEqual([])
  expect(await looking.workers()).toMatchObject([{ pid: process.pid, announcement: null }])
})

test("a task that nobody can run stays in the queue, says what is missing, and runs once somebody has it", async () => {
  const { directory, engine } = open()
  const asking = await openWorker(directory, { engine: await engine(), tools: [echo, other], takesWork: false })
  const { id } = await asking.start({ tool: "other", input: { value: 7 } })
  const missing = async () => (await asking.get(id)).missing
  expect(await missing()).toMatchObject({ needs: "worker", text: "no worker is there" })
  await openWorker(directory, { engine: await engine(), takesKinds: ["agent"] })
  expect(await missing()).toMatchObject({ needs: "kind", text: "no worker takes tool tasks" })
  await openWorker(directory, { engine: await engine(), tools: [echo] })
  expect(await missing()).toMatchObject({ needs: "tool", text: "no worker has the tool other of the plugin test" })
  const { items } = await asking.list({})
  expect(items).toMatchObject([{ id, status: "queued", missing: { needs: "tool", name: "other" } }])
  const able = await openWorker(directory, { engine: await engine(), tools: [other] })
  const { task } = await able.result(id, { waitMs: 10_000 })
  expect(task).toMatchObject({ status: "completed", patch: { payload: 7 } })
})

test("of a worker that has not taken up its work yet nobody says that it cannot run something", async () => {
  const { directory, engine } = open()
  const asking = await openWorker(directory, { engine: await engine(), tools: [echo, other], takesWork: false })
  const { id } = await asking.start({ tool: "other", input: {} })
  const begin = Promise.withResolvers<void>()
  const onCreated = () => begin.promise
  const starting = openWorker(directory, { engine: await engine(), tools: [echo], onCreated })
  await eventually("it has its lease", async () => (await asking.workers()).some(({ isStarting }) => isStarting))
  expect((await asking.get(id)).missing).toBeNull()
  begin.resolve()
  await starting
  expect((await asking.workers()).some(({ isStarting }) => isStarting)).toBe(false)
  expect((await asking.get(id)).missing).toMatchObject({ needs: "tool", name: "other" })
})

test("a list asks once what workers can run, however many tasks are in it", async () => {
  const { directory, engine } = open()
  const { seen, engine: watched } = watch(await engine())
  const asking = await openWorker(directory, { engine: watched, takesWork: false })
  for (let count = 0; count < 5; count++) await asking.start({ tool: "echo", input: {} })
  const { items } = await asking.list({})
  expect(items.filter(({ missing }) => missing?.needs === "worker")).toHaveLength(5)
  expect(seen.lists).toBe(1)
  expect((await asking.list({ statuses: ["completed"] })).items).toEqual([])
  expect(seen.lists).toBe(1)
})

test("a task that runs says where", async () => {
  const { directory, engine } = open()
  const gated = createGatedTool()
  const worker = await openWorker(directory, { engine: await engine(), tools: [gated.tool] })
  const asking = await openWorker(directory, { engine: await engine(), tools: [], takesWork: false })
  const { id } = await worker.start({ tool: "gated", input: {} })
  const call = await gated.call(1)
  expect((await asking.get(id)).worker).toMatchObject({ host: hostname(), pid: process.pid, where: "process" })
  expect((await asking.workers()).reduce((sum, { running }) => sum + running, 0)).toBe(1)
  call.finish()
  const { worker: nobody } = await asking.result(id, { waitMs: 10_000 })
  expect(nobody).toBeNull()
})

/** As of a process that stands still. */
function refuseRenewals(commit: Engine["store"]["commit"]): Engine["store"]["commit"] {
  return (operations) =>
    operations.some(({ op }) => op === "lease.renew")
      ? Promise.reject(new Error("it stands still"))
      : commit(operations)
}
