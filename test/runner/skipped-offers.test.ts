import { expect, test } from "vitest"
import type { JsonObject, JsonValue } from "../../src/base/json.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { toSkipKey, createFolderMismatch } from "../../src/runner/queue/folder-mismatch.ts"
import type { RunnerScope } from "../../src/runner/admit/scope.ts"
import { createTaskId, createWorkerId } from "../../src/task/id.ts"
import type { Lease } from "../../src/task/lease.ts"

const ABLE = { version: "1", since: 0, takes: "all", kinds: ["tool"], plugins: { shell: ["run"] }, concurrency: 1 }

interface Other {
  readonly process?: JsonObject
  readonly announcement: JsonValue
}

/** The parts of a runner that skip tasks whose folder is not here. Counts announcements, lists of workers and reads. */
function open(others: readonly Other[], leases: readonly Partial<Lease>[] = []) {
  const asked = { announced: 0, lists: 0, tasks: 0 }
  const folders = { areHere: false }
  const clock = createManualClock()
  const scope = {
    clock,
    config: { leaseSeconds: 10 },
    written: { heldInputs: new Map() },
    queue: { own: null },
    worker: { id: createWorkerId() },
    tools: {
      names: () => new Map([["shell", new Set(["run"])]]),
      find: () => ({ plugin: "shell", tool: { isHere: () => folders.areHere } }),
    },
    store: {
      async task(id: string) {
        asked.tasks += 1
        return { id, kind: "tool", plugin: "shell", tool: "run", input: {} }
      },
      leases: async () => leases,
      workers: async () => {
        asked.lists += 1
        return others.map((other) => ({ id: createWorkerId(), running: 0, process: { host: "there" }, ...other }))
      },
    },
  } as unknown as RunnerScope
  const mismatch = createFolderMismatch(scope, async () => void (asked.announced += 1))
  return { asked, clock, folders, mismatch }
}

const toOffer = (folder: string | null = null) => ({
  taskId: createTaskId(),
  run: 1,
  session: null,
  workspace: "default",
  plugin: "shell",
  model: null,
  tool: "run",
  folder,
})

test("however many offers are skipped in one look, others are told once and listed once", async () => {
  const { asked, mismatch } = open([{ announcement: ABLE }])
  const offers = Array.from({ length: 50 }, () => toOffer())
  expect(await mismatch.sift(offers)).toEqual([])
  expect(mismatch.count("shell")).toBe(50)
  expect(asked).toEqual({ announced: 1, lists: 1, tasks: 50 })
})

test("a bounded number of skipped tasks without a known folder is remembered", async () => {
  const { mismatch } = open([{ announcement: ABLE }])
  await mismatch.sift(Array.from({ length: 3_000 }, () => toOffer()))
  expect(mismatch.list()).toHaveLength(100)
  expect(mismatch.count()).toBe(100)
})

test("however many tasks name one folder, one of them is read, and others are told only the folder", async () => {
  const { asked, clock, mismatch } = open([{ announcement: ABLE }])
  const offers = Array.from({ length: 3_000 }, () => toOffer("/there"))
  expect(await mismatch.sift(offers)).toEqual([])
  expect(asked).toEqual({ announced: 1, lists: 1, tasks: 1 })
  expect(mismatch.list()).toHaveLength(1)
  expect(mismatch.count()).toBe(0)
  const place = { plugin: "shell", tool: "run", folder: "/there" }
  expect(mismatch.places()).toEqual([place])
  clock.advance(3_000)
  expect(mismatch.places()).toEqual([])
  expect(await mismatch.sift(offers.slice(0, 1))).toEqual([])
  expect(mismatch.places()).toEqual([place])
})

test("tasks of a folder that every worker skips are offered until all of them are claimed", async () => {
  const offer = toOffer("/there")
  const key = toSkipKey(offer)
  const { mismatch } = open([{ announcement: { ...ABLE, leaves: [key] } }])
  expect(await mismatch.sift([offer])).toEqual([offer])
  expect(mismatch.list()).toEqual([key])
  expect(mismatch.places()).toEqual([])
})

test("a skip ends when the task can run here or is not offered any more, even for a worker without offers", async () => {
  const { asked, clock, folders, mismatch } = open([{ announcement: ABLE }])
  await mismatch.sift([toOffer("/there")])
  await mismatch.review()
  expect(asked).toEqual({ announced: 1, lists: 1, tasks: 1 })
  clock.advance(3_000)
  await mismatch.review()
  await mismatch.review()
  expect(asked).toEqual({ announced: 1, lists: 1, tasks: 2 })
  folders.areHere = true
  clock.advance(3_000)
  await mismatch.review()
  expect(mismatch.list()).toEqual([])
  expect(asked).toEqual({ announced: 2, lists: 1, tasks: 3 })
  folders.areHere = false
  await mismatch.sift([toOffer("/there")])
  clock.advance(61_000)
  await mismatch.review()
  expect(mismatch.list()).toEqual([])
  expect(asked).toEqual({ announced: 4, lists: 2, tasks: 4 })
})

test("an offer that a worker of an earlier version skips by its run counts as skipped", async () => {
  const offer = toOffer("/there")
  const { mismatch } = open([{ announcement: { ...ABLE, leaves: [`${offer.taskId}/1`] } }])
  expect(await mismatch.sift([offer])).toEqual([offer])
})

test("an offer that every worker skips is claimed, and not one that a worker may take", async () => {
  const [left, wanted] = [toOffer(), toOffer()]
  const { mismatch } = open([{ announcement: { ...ABLE, leaves: [`${left.taskId}/1`] } }, { announcement: null }])
  expect(await mismatch.sift([left, wanted])).toEqual([left])
})

test("a worker of an earlier version announces nothing and may have the folder", async () => {
  const { mismatch } = open([{ process: {}, announcement: null }])
  expect(await mismatch.sift([toOffer()])).toEqual([])
})

test("a worker that starts has not announced yet what it skips", async () => {
  const starting = { process: { host: "there", takes: "all" }, announcement: null }
  expect(await open([starting]).mismatch.sift([toOffer()])).toEqual([])
  const looking = { process: { host: "there" }, announcement: null }
  expect(await open([looking]).mismatch.sift([toOffer()])).toHaveLength(1)
})

test("no task is given up while a worker may live that was not heard of", async () => {
  const lease = { key: "worker:one", holder: "one", isOver: false, data: {} }
  const offer = toOffer()
  expect(await open([], [lease]).mismatch.sift([offer])).toEqual([])
  expect(await open([], [{ ...lease, isOver: true }]).mismatch.sift([offer])).toEqual([offer])
  expect(await open([], [{ ...lease, holder: "whoever took it over" }]).mismatch.sift([offer])).toEqual([offer])
})

test("no task is given up after the store was away, until every worker had a lease's time to be heard of", async () => {
  const { clock, mismatch } = open([])
  const offer = toOffer()
  clock.advance(20_000)
  expect(await mismatch.sift([offer])).toEqual([])
  for (let second = 1; second < 10; second++) {
    clock.advance(1_000)
    expect(await mismatch.sift([offer])).toEqual([])
  }
  clock.advance(3_000)
  expect(await mismatch.sift([offer])).toEqual([offer])
})
