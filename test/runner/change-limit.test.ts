import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace, type WorkplaceOptions } from "../support/workplace.ts"

const LIMIT_MS = 20_000
/** Longer than a timer of the machine can be set. */
const FIFTY_DAYS_MS = 50 * 24 * 60 * 60 * 1_000
const LATER_MS = 300_000

async function startLimited(options: WorkplaceOptions = {}) {
  const clock = createManualClock()
  const gated = createGatedTool({ obeys: true })
  const { meanwhile, another } = await createWorkplace({ tools: [gated.tool], clock, ...options })
  const { tasks } = meanwhile
  const { id } = await tasks.start({ tool: "gated", input: {}, timeoutMs: LIMIT_MS })
  await gated.call(1)
  const status = async () => (await tasks.get(id)).task.status
  return { clock, gated, meanwhile, another, tasks, id, status }
}

test("a longer limit lets a running task go on, and the time that it has run counts", async () => {
  const { clock, tasks, id, status } = await startLimited()
  clock.advance(LIMIT_MS - 1)
  expect(await tasks.limit(id, LATER_MS)).toMatchObject({ status: "running", limits: { timeoutMs: LATER_MS } })
  clock.advance(LATER_MS - LIMIT_MS)
  expect(await status()).toBe("running")
  clock.advance(1)
  const { task } = await tasks.result(id, { waitMs: 1e9 })
  const reason = `it ran longer than its limit of ${LATER_MS / 1_000} s`
  expect(task).toMatchObject({ status: "timed_out", stop: { by: "deadline", reason } })
})

test("a task that has run longer than its new limit is stopped at once", async () => {
  const { clock, tasks, id } = await startLimited()
  clock.advance(5_000)
  await tasks.limit(id, 5_000)
  clock.advance(0)
  expect((await tasks.result(id, { waitMs: 1e9 })).task).toMatchObject({
    status: "timed_out",
    stop: { by: "deadline" },
  })
})

test("a task without a limit runs as long as it needs, and may get one later", async () => {
  const { clock, tasks, id, status } = await startLimited()
  expect((await tasks.limit(id, null)).limits.timeoutMs).toBeNull()
  clock.advance(LATER_MS)
  expect(await status()).toBe("running")
  await tasks.limit(id, LATER_MS + 1)
  clock.advance(1)
  expect((await tasks.result(id, { waitMs: 1e9 })).task.status).toBe("timed_out")
})

test("a limit that is longer than any timer of the machine stops nothing early", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {}, timeoutMs: FIFTY_DAYS_MS })
  await meanwhile.tasks.limit(id, FIFTY_DAYS_MS * 2)
  await meanwhile.tasks.limit(id, Number.MAX_VALUE)
  expect((await meanwhile.tasks.result(id, { waitMs: 20 })).task).toMatchObject({
    status: "running",
    limits: { timeoutMs: Number.MAX_SAFE_INTEGER },
  })
})

test("a limit that another task has set holds after that task has ended", async () => {
  const { clock, gated, tasks, id } = await startLimited()
  const { id: setter } = await tasks.start({ tool: "gated", input: {}, timeoutMs: null })
  const { context, finish } = await gated.call(2)
  await context.tasks.limit(id, LATER_MS)
  finish()
  await tasks.result(setter, { waitMs: 1e9 })
  clock.advance(LATER_MS)
  expect((await tasks.result(id, { waitMs: 1e9 })).task).toMatchObject({
    status: "timed_out",
    stop: { by: "deadline" },
  })
})

test("a change of the limit is a fact in the log of the task; the same limit again is none", async () => {
  const { meanwhile, tasks, id } = await startLimited()
  await tasks.limit(id, 90_000)
  await tasks.limit(id, 90_000)
  const events = await meanwhile.engine.store.events(id, 0, 10)
  expect(events.map(({ body }) => body).slice(2)).toEqual([{ type: "task.limited", timeoutMs: 90_000 }])
})

test("the limit of a task that another process runs takes effect there", async () => {
  const { clock, another, tasks, id, status } = await startLimited()
  const { tasks: there } = await another({ takesWork: false })
  await there.limit(id, LIMIT_MS * 10)
  clock.advance(LIMIT_MS)
  expect(await status()).toBe("running")
  await there.limit(id, LIMIT_MS * 2)
  await eventually("the other process has found the new limit", async () => {
    clock.advance(LIMIT_MS / 10)
    return (await status()) === "timed_out"
  })
  expect((await tasks.get(id)).task).toMatchObject({ stop: { reason: "it ran longer than its limit of 40 s" } })
})

test("a limit that was lengthened before the old one was over is kept, though nobody had heard of it yet", async () => {
  const { clock, meanwhile, tasks, id, status } = await startLimited()
  await meanwhile.engine.store.commit([{ op: "task.limit", taskId: id, timeoutMs: LIMIT_MS * 2 }])
  clock.advance(LIMIT_MS)
  await eventually("the refused stop was followed by a look", async () => {
    clock.advance(1_000)
    return clock.monotonic() >= LIMIT_MS * 2 - 1_000
  })
  expect(await status()).toBe("running")
  clock.advance(1_000)
  expect((await tasks.result(id, { waitMs: 1e9 })).task.status).toBe("timed_out")
})

test("time for which a task rests does not count against a limit that it got meanwhile", async () => {
  const { clock, meanwhile, tasks, id, status } = await startLimited()
  await tasks.limit(id, null)
  const goOn = meanwhile.tasks.rest(id)
  await tasks.limit(id, LIMIT_MS)
  clock.advance(LIMIT_MS * 5)
  goOn()
  clock.advance(LIMIT_MS - 1)
  expect(await status()).toBe("running")
  clock.advance(1)
  expect((await tasks.result(id, { waitMs: 1e9 })).task.status).toBe("timed_out")
})

test("the limit of a queued task counts once it runs", async () => {
  const { clock, gated, tasks } = await startLimited({ background: { maxConcurrentTasks: 1 } })
  const queued = await tasks.start({ tool: "gated", input: {} })
  expect(await tasks.limit(queued.id, 3_000)).toMatchObject({ status: "queued", limits: { timeoutMs: 3_000 } })
  clock.advance(10_000)
  ;(await gated.call(1)).finish()
  await gated.call(2)
  clock.advance(3_000)
  expect((await tasks.result(queued.id, { waitMs: 1e9 })).task.status).toBe("timed_out")
})

test("a run that another process takes over keeps its changed limit", async () => {
  const clock = createManualClock()
  const gated = createGatedTool({ kind: "agent", obeys: true })
  const { meanwhile, another } = await createWorkplace({ tools: [gated.tool], clock })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {}, timeoutMs: LIMIT_MS })
  await gated.call(1)
  await meanwhile.tasks.limit(id, LIMIT_MS * 3)
  await meanwhile.close()
  const second = await another()
  await gated.call(2)
  clock.advance(LIMIT_MS * 3 - 1)
  expect((await second.tasks.get(id)).task.status).toBe("running")
  clock.advance(1)
  expect((await second.tasks.result(id, { waitMs: 1e9 })).task.status).toBe("timed_out")
})

test("no limit exceeds the configured cap, and none is no way around it", async () => {
  const { tasks, id } = await startLimited({ background: { timeoutOverrideSeconds: 60 } })
  expect((await tasks.limit(id, FIFTY_DAYS_MS)).limits.timeoutMs).toBe(60_000)
  expect((await tasks.limit(id, null)).limits.timeoutMs).toBe(60_000)
  const unlimited = await tasks.start({ tool: "gated", input: {}, timeoutMs: null })
  expect(unlimited.limits.timeoutMs).toBe(60_000)
})

test("a limit that is no time is refused, and so is one for a task that has ended", async () => {
  const { gated, tasks, id } = await startLimited()
  for (const wrong of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
    await expect(tasks.limit(id, wrong)).rejects.toMatchObject({ code: "invalid_input" })
  }
  ;(await gated.call(1)).finish()
  await tasks.result(id, { waitMs: 1e9 })
  await expect(tasks.limit(id, 1_000)).rejects.toMatchObject({ code: "wrong_state" })
})

test("a store that refuses the change leaves the limit as it was, and says so", async () => {
  const { clock, meanwhile, tasks, id } = await startLimited()
  const { store } = meanwhile.engine
  const { commit } = store
  Object.assign(store, { commit: () => Promise.reject(new Error("disk full")) })
  await expect(tasks.limit(id, FIFTY_DAYS_MS)).rejects.toThrow("disk full")
  Object.assign(store, { commit })
  clock.advance(LIMIT_MS)
  expect((await tasks.result(id, { waitMs: 1e9 })).task.status).toBe("timed_out")
})
