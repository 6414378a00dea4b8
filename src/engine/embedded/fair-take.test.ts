import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { createManualClock, type ManualClock } from "../../base/manual-clock.ts"
import type { TakeRequest } from "../../task/dispatcher.ts"
import type { TaskId, WorkspaceId } from "../../task/id.ts"
import { TASK_KINDS } from "../../task/record.ts"
import { applyEvents, createTask, QUEUED, STARTED, WORKER } from "../suite/samples.ts"
import type { EngineSubject } from "../suite/subject.ts"
import { createTestStore } from "../../../test/support/embedded/store.ts"

/** Longer than a workspace goes on without a look for others. */
const A_WHILE_MS = 1_000
const MANY = 10_000
let clock: ManualClock
let subject: EngineSubject

beforeEach(async () => {
  clock = createManualClock()
  subject = await createTestStore({ clock })
})
afterEach(() => subject.dispose())

async function queue(count: number, workspace: string, changes: object = {}): Promise<readonly TaskId[]> {
  const created = Array.from({ length: count }, () =>
    createTask(subject.engine, QUEUED, { workspace: workspace as WorkspaceId, ...changes }),
  )
  return (await Promise.all(created)).map(({ id }) => id)
}

async function take(changes: Partial<TakeRequest> = {}): Promise<readonly TaskId[]> {
  const none = { fullSessions: [], fullModels: [], fullWorkspaces: [] }
  const request = { worker: WORKER, limit: 10, kinds: TASK_KINDS, plugins: ["shell"], ...none, ...changes }
  return (await subject.engine.dispatcher.take(request)).map(({ taskId }) => taskId)
}

async function work(changes: Partial<TakeRequest> = {}): Promise<readonly TaskId[]> {
  const ids = await take(changes)
  await Promise.all(ids.map((id) => applyEvents(subject.engine, id, STARTED)))
  return ids
}

async function workOff(count: number, changes?: Partial<TakeRequest>): Promise<void> {
  for (let worked = 0; worked < count; ) worked += (await work(changes)).length
}

describe("a workspace with 10,000 queued tasks does not starve another's one", { timeout: 60_000 }, () => {
  test("that was there when the first was taken", async () => {
    await queue(MANY, "crowd")
    const [single] = await queue(1, "single")
    const taken = [...(await work()), ...(await work()), ...(await work()), ...(await work()), ...(await work())]
    expect(taken).toContain(single)
  })

  test("that comes after it was alone for long", async () => {
    await queue(MANY, "crowd")
    await workOff(1_000)
    const [single] = await queue(1, "single")
    clock.advance(A_WHILE_MS)
    expect(await work()).toContain(single)
  })

  test("of one plugin, behind its tasks of another one", async () => {
    const request = { plugins: ["shell", "mcp"] }
    await queue(1_000, "crowd")
    await workOff(100, request)
    const [single] = await queue(1, "single", { plugin: "mcp" })
    clock.advance(A_WHILE_MS)
    expect(await work(request)).toContain(single)
  })
})

test("two long queues share", async () => {
  const first = new Set(await queue(400, "first"))
  await queue(400, "second")
  const taken: TaskId[] = []
  while (taken.length < 320) taken.push(...(await work()))
  const share = taken.filter((id) => first.has(id)).length / taken.length
  expect(share).toBeGreaterThan(0.35)
  expect(share).toBeLessThan(0.65)
})

test("urgent runs come first all the same, and no plugin gets more than its room", async () => {
  const crowd = await queue(50, "crowd")
  await workOff(40)
  const [single] = await queue(1, "single")
  const [urgent] = await queue(1, "crowd", { priority: 1 })
  expect(await take({ limit: 1 })).toEqual([urgent])
  expect(await take({ room: new Map([["shell", 2]]) })).toEqual([urgent, single])
  expect(await take({ limit: 3 })).toEqual([urgent, single, crowd[40]])
})
