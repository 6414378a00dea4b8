import { beforeEach, describe, expect, test } from "vitest"
import { createManualClock, type ManualClock } from "../../../base/manual-clock.ts"
import type { TakeRequest } from "../../../task/dispatcher.ts"
import type { TaskId } from "../../../task/id.ts"
import type { PostgresDispatcher } from "./dispatcher.ts"
import { take, useTestQueue } from "../../../../test/support/postgres/queue.ts"

const subject = useTestQueue()
/** Longer than a workspace goes on without a look for others. */
const A_WHILE_MS = 1_000
const MANY = 10_000
const MOST = 1_000
let clock: ManualClock

beforeEach(() => {
  clock = createManualClock()
})

function open(): PostgresDispatcher {
  return subject.open(undefined, clock)
}

async function work(dispatcher: PostgresDispatcher, request: Partial<TakeRequest> = {}): Promise<readonly TaskId[]> {
  const ids = await take(dispatcher, { limit: 10, ...request })
  for (const id of ids) await subject.claim(dispatcher, id)
  return ids
}

async function workOff(count: number, dispatcher: PostgresDispatcher, request?: Partial<TakeRequest>): Promise<void> {
  for (let worked = 0; worked < count; ) worked += (await work(dispatcher, request)).length
}

/** Counts the runs that are taken before this one, with one take every `everyMs`. */
async function countBefore(
  id: TaskId | undefined,
  dispatcher: PostgresDispatcher,
  everyMs = 0,
  request?: Partial<TakeRequest>,
): Promise<number> {
  for (let count = 0; ; clock.advance(everyMs)) {
    const ids = await work(dispatcher, request)
    if (id && ids.includes(id)) return count
    count += ids.length
    if (count > MOST) throw new Error("it starves")
  }
}

describe("a workspace with 10,000 queued tasks does not starve another's one", { timeout: 60_000 }, () => {
  test("that was there when the first was taken", async () => {
    const dispatcher = open()
    await subject.queue(MANY, { workspace: "crowd" })
    const [single] = await subject.queue(1, { workspace: "single" })
    expect(await countBefore(single, dispatcher)).toBeLessThan(50)
  })

  test("that comes after it was alone for long", async () => {
    const dispatcher = open()
    await subject.queue(MANY, { workspace: "crowd" })
    await workOff(1_100, dispatcher)
    const [single] = await subject.queue(1, { workspace: "single" })
    clock.advance(A_WHILE_MS)
    expect(await work(dispatcher)).toContain(single)
  })

  test("when tasks take so long that few of them are taken in a while", async () => {
    const dispatcher = open()
    await subject.queue(MANY, { workspace: "crowd" })
    await work(dispatcher)
    const [single] = await subject.queue(1, { workspace: "single" })
    clock.advance(A_WHILE_MS)
    expect(await work(dispatcher)).toContain(single)
  })

  test("of one plugin, behind its tasks of that and of another one", async () => {
    const dispatcher = open()
    const request = { plugins: ["shell", "web"] }
    for (const plugin of request.plugins) await subject.queue(MANY, { workspace: "crowd", plugin })
    await workOff(300, dispatcher, request)
    const [single] = await subject.queue(1, { workspace: "single", plugin: "web" })
    expect(await countBefore(single, dispatcher, 100, request)).toBeLessThan(100)
  })

  test("with several workers that were all busy with it", async () => {
    const workers = [open(), open(), open()]
    await subject.queue(MANY, { workspace: "crowd" })
    await Promise.all(workers.map((dispatcher) => workOff(200, dispatcher)))
    const [single] = await subject.queue(1, { workspace: "single" })
    clock.advance(A_WHILE_MS)
    const taken = await Promise.all(workers.map((dispatcher) => work(dispatcher)))
    expect(taken.flat()).toContain(single)
  })
})

test("several long queues of several workspaces share, and each that comes shares with them", async () => {
  const dispatcher = open()
  const first = new Set(await subject.queue(500, { workspace: "first" }))
  const second = new Set(await subject.queue(500, { workspace: "second" }))
  const taken: TaskId[] = []
  while (taken.length < 400) taken.push(...(await work(dispatcher)))
  const share = taken.filter((id) => first.has(id)).length / taken.length
  expect(taken.filter((id) => first.has(id) || second.has(id))).toHaveLength(taken.length)
  expect(share).toBeGreaterThan(0.35)
  expect(share).toBeLessThan(0.65)
  const [single] = await subject.queue(1, { workspace: "single" })
  expect(await countBefore(single, dispatcher)).toBeLessThan(100)
})

test("fairness does not hold up urgent runs", async () => {
  const dispatcher = open()
  const crowd = await subject.queue(50, { workspace: "crowd" })
  const begun = await take(dispatcher, { limit: 40 })
  for (const id of begun) await subject.claim(dispatcher, id)
  const [single] = await subject.queue(1, { workspace: "single" })
  const [urgent] = await subject.queue(1, { workspace: "crowd", priority: 1 })
  expect(await take(dispatcher, { limit: 1 })).toEqual([urgent])
  // Nothing promises which of the runs queued in the same moment comes next.
  const next = expect.toBeOneOf(crowd.filter((id) => !begun.includes(id)))
  expect(await take(dispatcher, { limit: 3 })).toEqual([urgent, single, next])
})
