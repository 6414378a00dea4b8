import { describe, expect } from "vitest"
import type { Engine } from "../../task/engine.ts"
import { createWorkerId, DEFAULT_WORKSPACE, type WorkerId, type WorkspaceId } from "../../task/id.ts"
import { ANNOUNCEMENTS, WORKER_LEASE_PREFIX } from "../../task/worker.ts"
import { applyEvents, createEndedTask, createTask, QUEUED } from "./samples.ts"
import { type EngineTest, waitUntil } from "./subject.ts"

const LONG_MS = 60_000
const SHORT_MS = 60

export function describeWorkers(test: EngineTest): void {
  describe("workers", () => {
    test("are listed with what they have announced and how much they run", async ({ engine, another }) => {
      const other = await another()
      expect(await other.store.workers()).toEqual([])
      const [one, two] = [createWorkerId(), createWorkerId()]
      await live(engine, one, LONG_MS)
      await live(engine, two, LONG_MS)
      await announce(engine, one, { plugins: ["shell"] })
      await createTask(engine, { as: "running", worker: one })
      const stopping = await createTask(engine, { as: "running", worker: one })
      await applyEvents(engine, stopping.id, { type: "task.stop_requested", by: "person", reason: "" })
      const handedBack = await createTask(engine, { as: "running", worker: one })
      await applyEvents(engine, handedBack.id, { type: "task.released", reason: "shutdown" })
      await createTask(engine, { as: "running", worker: one }, { kind: "turn" })
      const listed = [
        { id: one, process: { pid: 1 }, announcement: { plugins: ["shell"] }, running: 2 },
        { id: two, process: { pid: 1 }, announcement: null, running: 0 },
      ]
      const byId = listed.toSorted((left, right) => (left.id < right.id ? -1 : 1))
      expect(await other.store.workers()).toEqual(byId)
    })

    test("are listed no more once they are silent, gone or taken over", async ({ engine, another }) => {
      const other = await another()
      const [silent, gone, stays] = [createWorkerId(), createWorkerId(), createWorkerId()]
      await live(engine, silent, SHORT_MS)
      await announce(engine, silent, {})
      const fence = await live(engine, gone, LONG_MS)
      await live(engine, stays, LONG_MS)
      const key = `${WORKER_LEASE_PREFIX}${gone}`
      await engine.store.commit([{ op: "lease.release", key, holder: gone, fence }])
      await waitUntil(async () => (await other.store.workers()).length === 1)
      await waitUntil(async () => (await other.store.leases(`${WORKER_LEASE_PREFIX}${silent}`))[0]?.isOver)
      const taken = { key: `${WORKER_LEASE_PREFIX}${silent}`, holder: stays, ttlMs: LONG_MS, data: {} }
      await other.store.commit([{ op: "lease.take", ...taken }])
      expect((await engine.store.workers()).map(({ id }) => id)).toEqual([stays])
    })
  })

  describe("counts", () => {
    test("by status follow the filter, and are 0 for a status without tasks", async ({ engine }) => {
      const workspace = "other" as WorkspaceId
      await createTask(engine)
      await createTask(engine, QUEUED, { kind: "turn" })
      await createTask(engine, QUEUED, { workspace })
      await createEndedTask(engine)
      const ofDefault = await engine.store.countByStatus({ workspace: DEFAULT_WORKSPACE })
      expect(ofDefault).toMatchObject({ queued: 2, completed: 1, running: 0, interrupted: 0 })
      expect(Object.keys(ofDefault)).toHaveLength(9)
      expect(await engine.store.countByStatus({})).toMatchObject({ queued: 3, completed: 1 })
      expect(await engine.store.countByStatus({ kinds: ["tool"] })).toMatchObject({ queued: 2, completed: 1 })
      expect(await engine.store.countByStatus({ statuses: ["queued"] })).toMatchObject({ queued: 3, completed: 0 })
    })

    test("the age of the queue is that of the oldest run that could be taken", async ({ engine }) => {
      expect(await engine.store.queueAgeMs({})).toBeUndefined()
      await createTask(engine, { as: "queued", delayMs: 60_000 })
      await createEndedTask(engine)
      expect(await engine.store.queueAgeMs({})).toBeUndefined()
      const before = performance.now()
      await createTask(engine, QUEUED, { kind: "turn" })
      const ageMs = await waitUntil(async () => {
        const age = await engine.store.queueAgeMs({ workspace: DEFAULT_WORKSPACE })
        return age !== undefined && age > 20 && age
      })
      expect(ageMs).toBeLessThanOrEqual(performance.now() - before + 2)
      expect(await engine.store.queueAgeMs({ kinds: ["tool"] })).toBeUndefined()
      expect(await engine.store.queueAgeMs({ workspace: "other" as WorkspaceId })).toBeUndefined()
    })
  })
}

async function live({ store }: Engine, id: WorkerId, ttlMs: number): Promise<number> {
  const lease = { key: `${WORKER_LEASE_PREFIX}${id}`, holder: id, ttlMs, data: { pid: 1 } }
  const [{ fence }] = await store.commit([{ op: "lease.take", ...lease }])
  return fence
}

async function announce({ store }: Engine, id: WorkerId, value: Record<string, string[]>): Promise<void> {
  await store.commit([{ op: "document.put", ...ANNOUNCEMENTS, id, value, expectedVersion: 0 }])
}
