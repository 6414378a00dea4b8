import { expect, test } from "vitest"
import type { JsonObject, JsonValue } from "../../src/base/json.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { createMisplaced } from "../../src/runner/worker/misplaced.ts"
import type { RunnerScope } from "../../src/runner/scope.ts"
import { createTaskId, createWorkerId } from "../../src/task/id.ts"
import type { Lease } from "../../src/task/lease.ts"

const ABLE = { version: "1", since: 0, takes: "all", kinds: ["tool"], plugins: { shell: ["run"] }, concurrency: 1 }

interface Other {
  readonly process?: JsonObject
  readonly announcement: JsonValue
}

/** As much of a runner as it takes to leave what names a folder that is not here. Counts what is asked of others. */
function open(others: readonly Other[], leases: readonly Partial<Lease>[] = []) {
  const asked = { announced: 0, lists: 0 }
  const clock = createManualClock()
  const scope = {
    clock,
    config: { leaseSeconds: 10 },
    heldInputs: new Map(),
    worker: { id: createWorkerId() },
    tools: {
      names: () => new Map([["shell", new Set(["run"])]]),
      find: () => ({ plugin: "shell", tool: { isHere: () => false } }),
    },
    store: {
      task: async (id: string) => ({ id, kind: "tool", plugin: "shell", tool: "run", input: {} }),
      leases: async () => leases,
      workers: async () => {
        asked.lists += 1
        return others.map((other) => ({ id: createWorkerId(), running: 0, process: { host: "there" }, ...other }))
      },
    },
  } as unknown as RunnerScope
  const misplaced = createMisplaced(scope, async () => void (asked.announced += 1))
  return { asked, clock, misplaced }
}

const toOffer = () => ({
  taskId: createTaskId(),
  run: 1,
  session: null,
  workspace: "default",
  plugin: "shell",
  model: null,
  tool: "run",
  folder: null,
})

test("however many are left in one look, others are told once and looked at once", async () => {
  const { asked, misplaced } = open([{ announcement: ABLE }])
  const offers = Array.from({ length: 300 }, toOffer)
  expect(await misplaced.sift(offers)).toEqual([])
  expect(misplaced.count("shell")).toBe(300)
  expect(asked).toEqual({ announced: 1, lists: 1 })
})

test("one that everybody leaves is claimed, beside others that somebody may have", async () => {
  const [left, wanted] = [toOffer(), toOffer()]
  const { misplaced } = open([{ announcement: { ...ABLE, leaves: [`${left.taskId}/1`] } }, { announcement: null }])
  expect(await misplaced.sift([left, wanted])).toEqual([left])
})

test("a worker of an earlier version says nothing and may have the folder", async () => {
  const { misplaced } = open([{ process: {}, announcement: null }])
  expect(await misplaced.sift([toOffer()])).toEqual([])
})

test("nothing is given up while somebody may live who was not heard of", async () => {
  const lease = { key: "worker:one", holder: "one", isOver: false }
  const offer = toOffer()
  expect(await open([], [lease]).misplaced.sift([offer])).toEqual([])
  expect(await open([], [{ ...lease, isOver: true }]).misplaced.sift([offer])).toEqual([offer])
  expect(await open([], [{ ...lease, holder: "whoever took it over" }]).misplaced.sift([offer])).toEqual([offer])
})

test("nor when the store was away, until everybody had a lease's time to be heard of", async () => {
  const { clock, misplaced } = open([])
  const offer = toOffer()
  clock.advance(20_000)
  expect(await misplaced.sift([offer])).toEqual([])
  for (let second = 1; second < 10; second++) {
    clock.advance(1_000)
    expect(await misplaced.sift([offer])).toEqual([])
  }
  clock.advance(3_000)
  expect(await misplaced.sift([offer])).toEqual([offer])
})
