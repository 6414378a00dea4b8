import { setImmediate } from "node:timers/promises"
import { expect, test } from "vitest"
import { z } from "zod"
import { MeanwhileError } from "../../src/base/error.ts"
import type { JsonObject } from "../../src/base/json.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { silentLog } from "../../src/runner/redaction/redacting-log.ts"
import { hasEvent, interceptCommits } from "../support/intercept-commits.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const LEASE_MS = 30_000

test("a worker is not taken for lost while the store was away and nobody could renew", async () => {
  const gated = createGatedTool({ obeys: true })
  const background = { leaseSeconds: LEASE_MS / 1_000 }
  // The first worker's clock stands still, so it does not renew; the second one's goes on.
  const { meanwhile, another } = await createWorkplace({ tools: [gated.tool], clock: createManualClock(), background })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  await gated.call(1)
  const clock = createManualClock()
  const second = await another({ clock })
  // With a run of its own, the worker asks for the leases a second time, after it took over what it takes for lost.
  await second.tasks.start({ tool: "gated", input: {} })
  await gated.call(2)
  const { store } = second.engine
  const { leases } = store
  const hasLooked = Promise.withResolvers<void>()
  const away = Promise.withResolvers<void>()
  let asked = 0
  Object.assign(store, {
    async leases(prefix: string) {
      asked += 1
      if (asked === 1) await away.promise
      if (asked === 2) hasLooked.resolve()
      return leases(prefix)
    },
  })
  clock.advance(LEASE_MS / 3)
  clock.advance(LEASE_MS)
  away.resolve()
  await hasLooked.promise
  expect((await meanwhile.tasks.get(id)).task.status).toBe("running")
})

test("no step begins past 80 % of the lease while renewals are refused, although the store can be read", async () => {
  const clock = createManualClock()
  const begun: string[] = []
  const hasBegun = Promise.withResolvers<void>()
  const goOn = Promise.withResolvers<void>()
  const stepper = defineTool({
    name: "stepper",
    description: "Takes two steps.",
    input: z.object({}),
    background: { mode: "always" },
    async run(_input, { step }) {
      const take = (key: string) => step(key, async () => begun.push(key), { onCrash: "fail" })
      await take("first")
      hasBegun.resolve()
      await goOn.promise
      return take("second")
    },
  })
  const background = { leaseSeconds: LEASE_MS / 1_000 }
  const { meanwhile } = await createWorkplace({ tools: [stepper], clock, background })
  const { id } = await meanwhile.tasks.start({ tool: "stepper", input: {} })
  await hasBegun.promise
  interceptCommits(meanwhile, (operations, commit) => {
    if (!operations.some(({ op }) => op === "lease.renew")) return commit(operations)
    return Promise.reject(new MeanwhileError("disk_full", "The disk is full."))
  })
  clock.advance(LEASE_MS * 0.9)
  goOn.resolve()
  const { task } = await meanwhile.tasks.result(id, { waitMs: 60_000 })
  expect(task).toMatchObject({ status: "failed", failure: { code: "disk_full" } })
  expect(begun).toEqual(["first"])
})

test("the duration of a task does not include how long its end had to wait for the store", async () => {
  const gated = createGatedTool()
  const clock = createManualClock()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock })
  const hasEnded = Promise.withResolvers<void>()
  const back = Promise.withResolvers<void>()
  interceptCommits(meanwhile, async (operations, commit) => {
    if (hasEvent(operations, "task.completed")) {
      hasEnded.resolve()
      await back.promise
    }
    return commit(operations)
  })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const call = await gated.call(1)
  clock.advance(2_000)
  call.finish()
  await hasEnded.promise
  clock.advance(20_000)
  back.resolve()
  const { task } = await meanwhile.tasks.result(id, { waitMs: 60_000 })
  expect(task).toMatchObject({ status: "completed", ranMs: 2_000 })
})

test("the duration of a task does not include how long its stop had to wait for the store", async () => {
  const gated = createGatedTool({ obeys: true })
  const clock = createManualClock()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock })
  const { tasks } = meanwhile
  const isAsked = Promise.withResolvers<void>()
  const back = Promise.withResolvers<void>()
  interceptCommits(meanwhile, async (operations, commit) => {
    if (hasEvent(operations, "task.stop_requested")) {
      isAsked.resolve()
      await back.promise
    }
    return commit(operations)
  })
  const { id } = await tasks.start({ tool: "gated", input: {} })
  await gated.call(1)
  clock.advance(2_000)
  const cancelled = tasks.cancel(id)
  await isAsked.promise
  clock.advance(20_000)
  back.resolve()
  await cancelled
  const { task } = await tasks.result(id, { waitMs: 60_000 })
  expect(task).toMatchObject({ status: "cancelled", ranMs: 2_000 })
})

test("the duration of a task does not include the wait of an end written with its stop, and the log says why", async () => {
  const gated = createGatedTool({ obeys: true })
  const clock = createManualClock()
  const logged: unknown[] = []
  const log = { ...silentLog, error: (_message: string, fields?: JsonObject) => void logged.push(fields?.["error"]) }
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock, log })
  const hasEnded = Promise.withResolvers<void>()
  const back = Promise.withResolvers<void>()
  interceptCommits(meanwhile, async (operations, commit) => {
    const isEnd = hasEvent(operations, "task.timed_out")
    if (hasEvent(operations, "task.stop_requested") && !isEnd)
      throw new MeanwhileError("disk_full", "The disk is full.")
    if (isEnd) {
      hasEnded.resolve()
      await back.promise
    }
    return commit(operations)
  })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {}, timeoutMs: 2_000 })
  await gated.call(1)
  clock.advance(2_000)
  await hasEnded.promise
  clock.advance(20_000)
  back.resolve()
  const { task } = await meanwhile.tasks.result(id, { waitMs: 60_000 })
  expect(task).toMatchObject({ status: "timed_out", ranMs: 2_000 })
  expect(logged).toEqual(["The disk is full."])
})

test("the learned duration of a call does not include how long its promotion had to wait for the store", async () => {
  const gated = createGatedTool()
  const clock = createManualClock()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock })
  const { tasks } = meanwhile
  const isMoving = Promise.withResolvers<void>()
  const back = Promise.withResolvers<void>()
  interceptCommits(meanwhile, async (operations, commit) => {
    if (operations.some(({ op }) => op === "task.create")) {
      isMoving.resolve()
      await back.promise
    }
    return commit(operations)
  })
  const { promote, answer, taskId } = tasks.execute({ tool: "gated", input: {} })
  const call = await gated.call(1)
  clock.advance(2_000)
  void promote()
  await isMoving.promise
  call.finish()
  await setImmediate()
  clock.advance(20_000)
  back.resolve()
  await answer
  await tasks.result(taskId, { waitMs: 60_000 })
  const learned = await tasks.estimate({ tool: "gated", input: {} })
  expect(learned?.source).toBe("history")
  expect(learned?.medianMs).toBeLessThan(2_600)
})
