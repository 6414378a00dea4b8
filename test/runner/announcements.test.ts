import { hostname } from "node:os"
import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { VERSION } from "../../src/base/version.ts"
import type { Engine } from "../../src/task/engine.ts"
import { ANNOUNCEMENTS } from "../../src/task/worker.ts"
import { eventually } from "../support/eventually.ts"
import { echo } from "../support/tools.ts"
import { openPlace, openWorker, other, watch } from "../support/announcing-worker.ts"

const announced = ({ store }: Engine) => store.documents(ANNOUNCEMENTS.workspace, ANNOUNCEMENTS.collection)

test("a worker announces what it can run, once, and again when its tools change", async () => {
  const { directory, engine } = openPlace()
  const { seen, engine: watched } = watch(await engine())
  const clock = createManualClock()
  const worker = await openWorker(directory, {
    engine: watched,
    clock,
    takesKinds: ["tool"],
    background: { maxConcurrentTasks: 3, leaseSeconds: 15 },
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
    clock.advance(1_000)
    const [now] = await worker.workers()
    return now?.announcement?.plugins["test"]?.includes("other")
  })
  worker.have(echo, other)
  const { renewals } = seen
  await eventually("the lease is renewed", () => {
    clock.advance(1_000)
    return seen.renewals > renewals + 2
  })
  expect(seen.announcements).toBe(2)
})

test("an announcement goes when its worker closes, or when another worker takes over from it", async () => {
  const { directory, engine } = openPlace()
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
  // With a lease as short, a look that waits a moment for the store would count as a standstill of this worker itself.
  await openWorker(directory, { engine: await engine(), background: { leaseSeconds: 1 } })
  await eventually("the lost one is forgotten", async () => !(await announced(store)).some(({ id }) => id === lostId))
})

test("an announcement that could not be written is written later", async () => {
  const { directory, engine } = openPlace()
  const { store, ...rest } = await engine()
  let refusals = 1
  const commit: typeof store.commit = (operations, options) =>
    operations.some(({ op }) => op === "document.put") && refusals-- > 0
      ? Promise.reject(new Error("the store is away"))
      : store.commit(operations, options)
  const clock = createManualClock()
  await openWorker(directory, { engine: { ...rest, store: { ...store, commit } }, clock })
  expect(await announced({ ...rest, store })).toEqual([])
  await eventually("it is announced", async () => {
    clock.advance(1_000)
    return (await announced({ ...rest, store })).length === 1
  })
})

test("a runner that only looks announces nothing", async () => {
  const { directory, engine } = openPlace()
  const looking = await openWorker(directory, { engine: await engine(), takesWork: false })
  expect(await announced(await engine())).toEqual([])
  expect(await looking.workers()).toMatchObject([{ pid: process.pid, announcement: null }])
})

test("a runner that runs no tasks announces that it takes the turns of its own conversations, and nothing else", async () => {
  const { directory, engine } = openPlace()
  const continueTurn = async () => null
  await openWorker(directory, { engine: await engine(), background: { maxConcurrentTasks: 0 }, continueTurn })
  const looking = await openWorker(directory, { engine: await engine(), takesWork: false })
  const [announcement] = (await looking.workers()).flatMap((worker) => worker.announcement ?? [])
  expect(announcement).toMatchObject({ takes: "own", kinds: ["turn"], concurrency: 0 })
})

/** Refuses renewals, as if the process stood still. */
function refuseRenewals(commit: Engine["store"]["commit"]): Engine["store"]["commit"] {
  return (operations, options) =>
    operations.some(({ op }) => op === "lease.renew")
      ? Promise.reject(new Error("it stands still"))
      : commit(operations, options)
}
