import { expect, onTestFinished, test } from "vitest"
import { MeanwhileError } from "../../base/error.ts"
import { createManualClock } from "../../base/manual-clock.ts"
import { createEmbeddedEngine } from "../../engine/embedded/engine.ts"
import { IN_MEMORY } from "../../engine/embedded/open.ts"
import { DEFAULT_WORKSPACE, type SessionId } from "../../task/id.ts"
import type { Operation } from "../../task/operation.ts"
import { IN_DOUBT } from "../../task/store-refusal.ts"
import type { TaskStore } from "../../task/store.ts"
import { createSteadyStore } from "./steady-store.ts"

const ID = "baker" as SessionId
const CREATE = { op: "session.create", id: ID, workspace: DEFAULT_WORKSPACE, data: { name: "a" } } as const
const refused = () => new MeanwhileError("disk_full", "The disk is full.")
const lost = () => new MeanwhileError("store_unavailable", "The answer was lost.", IN_DOUBT)

/** A steady store on a real one. `commit` stands in for the real commit, which it may call. */
async function openSteady(commit: (real: () => Promise<readonly unknown[]>) => Promise<readonly unknown[]>) {
  const clock = createManualClock()
  const leaving = new AbortController()
  const engine = await createEmbeddedEngine({ path: IN_MEMORY, clock })
  onTestFinished(() => engine.close())
  const faulty: TaskStore = {
    ...engine.store,
    commit: ((operations: readonly Operation[]) => commit(() => engine.store.commit(operations))) as never,
  }
  const store = createSteadyStore(faulty, { clock, leaving: leaving.signal })
  return { store, faulty, real: engine.store, clock, leaving }
}

/** Lets time pass until the promise is settled. */
async function pass<Result>(clock: { advance(ms: number): void }, work: Promise<Result>): Promise<Result> {
  let isOver = false
  const settle = (): void => void (isOver = true)
  work.then(settle, settle)
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(100)
  }
  return work
}

test.each(["store_unavailable", "store_read_only", "disk_full"] as const)(
  "a commit that is refused for a moment as %s is repeated",
  async (code) => {
    let tries = 0
    const refusal = new MeanwhileError(code, "Not now.")
    const { store, clock } = await openSteady((real) => (++tries < 3 ? Promise.reject(refusal) : real()))
    expect(await pass(clock, store.commit([CREATE]))).toMatchObject([{ id: ID, version: 1 }])
    expect(tries).toBe(3)
  },
)

test("a commit whose answer was lost is not performed again", async () => {
  let tries = 0
  const { store, clock } = await openSteady(async (real) => {
    tries += 1
    await real()
    throw lost()
  })
  expect(await pass(clock, store.commit([CREATE]))).toMatchObject([{ id: ID, version: 1 }])
  expect(tries).toBe(1)
})

test("a commit in doubt that was not performed is performed once", async () => {
  let tries = 0
  const { store, clock, real } = await openSteady((own) => (++tries === 1 ? Promise.reject(lost()) : own()))
  await pass(clock, store.commit([CREATE]))
  expect([tries, (await real.session(ID))?.version]).toEqual([2, 1])
})

test("a commit in doubt that arrives late, just before it is repeated, counts as performed", async () => {
  let tries = 0
  const { store, clock } = await openSteady(async (real) => {
    tries += 1
    if (tries === 1) throw lost()
    await real()
    return real()
  })
  expect(await pass(clock, store.commit([CREATE]))).toMatchObject([{ id: ID, version: 1 }])
})

test("a commit in doubt waits for a store that cannot be read, however long", async () => {
  const { store, faulty, real, clock } = await openSteady(async (own) => {
    await own()
    throw lost()
  })
  let looks = 0
  Object.assign(faulty, { session: (id: SessionId) => (++looks < 40 ? Promise.reject(refused()) : real.session(id)) })
  expect(await pass(clock, store.commit([CREATE]))).toMatchObject([{ version: 1 }])
})

test("a store that takes no writes for long refuses, and nothing was stored", async () => {
  const { store, clock, real } = await openSteady(() => Promise.reject(refused()))
  await expect(pass(clock, store.commit([CREATE]))).rejects.toMatchObject({ code: "disk_full" })
  expect(await real.session(ID)).toBeUndefined()
})

test("a writer that does not wait is refused at once, and so is the renewal of a lease", async () => {
  const { store } = await openSteady(() => Promise.reject(refused()))
  await expect(store.commit([CREATE], { waitsForStore: false })).rejects.toMatchObject({ code: "disk_full" })
  const renewal = { op: "lease.renew", key: "k", holder: "h", fence: 1 } as const
  await expect(store.commit([renewal])).rejects.toMatchObject({ code: "disk_full" })
})

test("a process that is left waits no longer", async () => {
  const { store, leaving, clock } = await openSteady(() => Promise.reject(refused()))
  const startedMs = clock.monotonic()
  leaving.abort()
  await expect(pass(clock, store.commit([CREATE]))).rejects.toMatchObject({ code: "disk_full" })
  expect(clock.monotonic() - startedMs).toBeLessThan(1_000)
})
