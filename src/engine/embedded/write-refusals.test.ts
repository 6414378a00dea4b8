import { describe, test, type TestContext } from "vitest"
import { createFolder } from "../../../test/support/embedded/store.ts"
import { eventually } from "../../../test/support/eventually.ts"
import type { Engine } from "../../task/engine.ts"
import { applyEvents, COMPLETED, createTask, RUNNING } from "../suite/samples.ts"
import { expectRefusal } from "../suite/subject.ts"
import { createEmbeddedEngine, type EmbeddedEngineOptions } from "./engine.ts"
import { openDatabase } from "./open.ts"
import { createPrepare } from "./sqlite/statement.ts"

const LARGE = { text: "x".repeat(100_000) }
const FULL = /^The store \S+ cannot grow: the disk is full\. .* Waiting for it/
const BACK = /^The store \S+ is back, after \d+ s\.$/

interface FullStore {
  /** Finds the disk full: its store may not grow past what it has. */
  readonly engine: Engine
  readonly told: string[]
  makeRoom(): Promise<void>
}

async function openFull(context: TestContext, options: Partial<EmbeddedEngineOptions> = {}): Promise<FullStore> {
  const { path, remove } = await createFolder()
  const roomy = await createEmbeddedEngine({ path, synchronous: "normal" })
  const { id } = await createTask(roomy, RUNNING, { input: LARGE })
  const maxPages = await countPages(path)
  const told: string[] = []
  const tell = (line: string): void => void told.push(line)
  const engine = await createEmbeddedEngine({ path, maxPages, synchronous: "normal", tell, ...options })
  context.onTestFinished(async () => {
    await Promise.all([engine.close(), roomy.close()])
    await remove()
  })
  return {
    engine,
    told,
    async makeRoom() {
      await applyEvents(roomy, id, COMPLETED)
      await roomy.store.commit([{ op: "task.remove", taskId: id }])
    },
  }
}

async function countPages(path: string): Promise<number> {
  using database = await openDatabase({ path })
  return createPrepare(database)<{ page_count: number }>("PRAGMA page_count").get()?.page_count ?? 0
}

// Together, because a person is told only after a second.
describe.concurrent("a full disk", () => {
  test("is told once and waited for, in the order of the commits, and its end is told once", async (context) => {
    const { expect } = context
    const away: boolean[] = []
    const { engine, told, makeRoom } = await openFull(context, { onAway: (isAway) => away.push(isAway) })
    const order: string[] = []
    const large = createTask(engine, RUNNING, { input: LARGE }).then(() => order.push("large"))
    const small = createTask(engine).then(() => order.push("small"))
    await eventually("it is told", () => told.length > 0)
    expect(await engine.store.countTasks({})).toBe(1)
    await makeRoom()
    await Promise.all([large, small])
    expect(order).toEqual(["large", "small"])
    expect(told).toEqual([expect.stringMatching(FULL), expect.stringMatching(BACK)])
    expect(away).toEqual([true, false])
  })

  test("refuses a commit that does not wait once that is told, and others go on waiting", async (context) => {
    const { engine, makeRoom } = await openFull(context)
    const large = createTask(engine, RUNNING, { input: LARGE })
    const take = { op: "lease.take", key: "k", holder: "h", ttlMs: 1_000, data: {} } as const
    await expectRefusal(engine.store.commit([take], { whenAway: "refuse" }), "store_unavailable")
    await makeRoom()
    await large
    context.expect(await engine.store.leases("k")).toEqual([])
  })

  test("is not waited for by a program that leaves, once that is told", async (context) => {
    const leaving = new AbortController()
    let isGone = false
    const onGone = (): void => void (isGone = true)
    const { engine } = await openFull(context, { leaving: leaving.signal, onGone })
    leaving.abort()
    await expectRefusal(createTask(engine, RUNNING, { input: LARGE }), "store_unavailable")
    context.expect(isGone).toBe(true)
  })

  test("is told once while large commits are given up and small ones fit", async (context) => {
    const { engine, told } = await openFull(context, { patienceMs: 1_100 })
    for (let round = 0; round < 2; round++) {
      await expectRefusal(createTask(engine, RUNNING, { input: LARGE }), "disk_full")
      await createTask(engine)
    }
    context.expect(told).toEqual([context.expect.stringMatching(FULL)])
  })

  test("refuses a commit that waited as long as the engine's patience, and stores nothing of it", async (context) => {
    const { engine, makeRoom } = await openFull(context, { patienceMs: 50 })
    await expectRefusal(createTask(engine, RUNNING, { input: LARGE }), "disk_full")
    await makeRoom()
    context.expect(await engine.store.countTasks({})).toBe(0)
  })
})
