import { hostname } from "node:os"
import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { openPlace, openWorker, other, watch } from "../support/announcing-worker.ts"

test("a task that nobody can run stays in the queue, says what is missing, and runs once somebody has it", async () => {
  const { directory, engine } = openPlace()
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
  const { task } = await able.result(id, { waitMs: 30_000 })
  expect(task).toMatchObject({ status: "completed", patch: { payload: 7 } })
})

test("a worker that takes only its own work does not count itself among those that could run others' tasks", async () => {
  const { directory, engine } = openPlace()
  const asking = await openWorker(directory, { engine: await engine(), takesWork: false })
  const own = await openWorker(directory, { engine: await engine(), takesWork: "own" })
  const { id } = await asking.start({ tool: "echo", input: {} })
  expect((await own.get(id)).missing).toMatchObject({ needs: "worker", text: "no worker is there" })
  expect((await own.list({})).items).toMatchObject([{ id, missing: { needs: "worker" } }])
  // Only the other worker knows what it takes as its own.
  expect((await asking.get(id)).missing).toBeNull()
  await openWorker(directory, { engine: await engine() })
  await eventually("somebody has run it", async () => (await own.get(id)).task.status === "completed")
})

test("nobody says that a worker that is still starting cannot run something", async () => {
  const { directory, engine } = openPlace()
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
  const { directory, engine } = openPlace()
  const { seen, engine: watched } = watch(await engine())
  const asking = await openWorker(directory, { engine: watched, takesWork: false })
  for (let count = 0; count < 5; count++) await asking.start({ tool: "echo", input: {} })
  const { items } = await asking.list({})
  expect(items.filter(({ missing }) => missing?.needs === "worker")).toHaveLength(5)
  expect(seen.lists).toBe(1)
  expect((await asking.list({ statuses: ["completed"] })).items).toEqual([])
  expect(seen.lists).toBe(1)
})

test("a running task says where it runs", async () => {
  const { directory, engine } = openPlace()
  const gated = createGatedTool()
  const worker = await openWorker(directory, { engine: await engine(), tools: [gated.tool] })
  const asking = await openWorker(directory, { engine: await engine(), tools: [], takesWork: false })
  const { id } = await worker.start({ tool: "gated", input: {} })
  const call = await gated.call(1)
  expect((await asking.get(id)).worker).toMatchObject({ host: hostname(), pid: process.pid, where: "process" })
  expect((await asking.workers()).reduce((sum, { running }) => sum + running, 0)).toBe(1)
  call.finish()
  const { worker: nobody } = await asking.result(id, { waitMs: 30_000 })
  expect(nobody).toBeNull()
})
