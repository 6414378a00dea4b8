import { expect, test } from "vitest"
import { createManualClock } from "../../../src/base/manual-clock.ts"
import type { BackgroundConfigInput } from "../../../src/runner/limits/background-config.ts"
import type { ToolCall } from "../../../src/plugin/task-service.ts"
import type { Tool } from "../../../src/plugin/tool.ts"
import { createSessionId } from "../../../src/task/id.ts"
import { eventually } from "../../support/eventually.ts"
import { createGatedTool, echo } from "../../support/tools.ts"
import { createWorkplace } from "../../support/workplace.ts"

async function open(background: BackgroundConfigInput, tool: Partial<Tool> & { obeys?: boolean } = {}) {
  const clock = createManualClock()
  const gated = createGatedTool({ obeys: true, ...tool } as Parameters<typeof createGatedTool>[0])
  const { meanwhile, another } = await createWorkplace({ tools: [gated.tool], clock, background })
  return { clock, gated, another, meanwhile, tasks: meanwhile.tasks }
}

test("defaultTimeoutSeconds: a task that names no time limit ends by this one", async () => {
  const { clock, gated, tasks } = await open({ defaultTimeoutSeconds: 7 })
  const { id } = await tasks.start({ tool: "gated", input: {} })
  const { context } = await gated.call(1)
  clock.advance(6_999)
  expect(context.signal.aborted).toBe(false)
  clock.advance(1)
  const { task } = await tasks.result(id, { waitMs: 60_000 })
  expect(task).toMatchObject({ status: "timed_out", stop: { by: "deadline" } })
})

test("timeoutOverrideSeconds: caps every time limit, whoever asked for it", async () => {
  const { clock, gated, tasks } = await open({ timeoutOverrideSeconds: 5, thresholdSeconds: 1 }, { timeoutMs: 120_000 })
  const asked = await tasks.start({ tool: "gated", input: {}, timeoutMs: 60_000 })
  const shorter = await tasks.start({ tool: "gated", input: {}, timeoutMs: 4_000 })
  const ofTool = await tasks.start({ tool: "gated", input: {} })
  await gated.call(3)
  expect([asked, shorter, ofTool].map(({ limits }) => limits.timeoutMs)).toEqual([5_000, 4_000, 5_000])
  clock.advance(5_000)
  expect((await tasks.result(asked.id, { waitMs: 60_000 })).task.status).toBe("timed_out")
})

test("foregroundTimeoutSeconds: a call that cannot move to the background ends by it", async () => {
  const { clock, gated, tasks } = await open({ foregroundTimeoutSeconds: 3 }, { background: { mode: "never" } })
  const execution = tasks.execute({ tool: "gated", input: {} })
  await gated.call(1)
  clock.advance(2_999)
  expect(await execution.promote()).toBe(false)
  clock.advance(1)
  expect(await execution.answer).toMatchObject({ outcome: "timed_out", by: "deadline" })
})

test("thresholdSeconds: a capable tool that names no threshold is promoted after it", async () => {
  const { clock, gated, tasks } = await open({ thresholdSeconds: 4 })
  const execution = tasks.execute({ tool: "gated", input: {} })
  await gated.call(1)
  clock.advance(4_000)
  expect(await execution.answer).toMatchObject({ outcome: "promoted", afterMs: 4_000 })
})

test("stopGraceSeconds: work that ignores its stop is given up after it", async () => {
  const { clock, gated, tasks } = await open({ stopGraceSeconds: 30 }, { obeys: false })
  const { id } = await tasks.start({ tool: "gated", input: {} })
  await gated.call(1)
  expect((await tasks.cancel(id)).status).toBe("stopping")
  clock.advance(30_000)
  // Each of these is a commit: an end that had been decided would be written before the last of them.
  for (let priority = 1; priority <= 5; priority++) {
    expect((await tasks.prioritize(id, priority)).status).toBe("stopping")
  }
  clock.advance(10_000)
  const { task } = await tasks.result(id, { waitMs: 60_000 })
  expect(task).toMatchObject({ status: "cancelled", survivors: [{ pid: process.pid }] })
})

test("leaseSeconds: a worker that is silent for so long loses its runs, and not before", async () => {
  const { gated, another, tasks } = await open({ leaseSeconds: 30 })
  const { id } = await tasks.start({ tool: "gated", input: {} })
  await gated.call(1)
  // The first worker's clock stands still, so it never renews; the second one's goes on.
  const clock = createManualClock()
  const second = await another({ clock, background: { leaseSeconds: 3 } })
  let waitedMs = 0
  const { task } = await eventually("the run is taken over", async () => {
    // In small steps towards the end: a takeover takes its time.
    const stepMs = waitedMs < 29_000 ? 500 : 50
    clock.advance(stepMs)
    waitedMs += stepMs
    const view = await second.tasks.get(id)
    return view.task.status === "interrupted" && view
  })
  expect(task).toMatchObject({ status: "interrupted", by: "lost_worker" })
  expect(waitedMs).toBeGreaterThanOrEqual(30_000)
  expect(waitedMs).toBeLessThan(40_000)
})

test("lifetime: that of a tool task which names none; a session's lifetime needs a session", async () => {
  const agent: Tool = { ...echo, name: "agent", kind: "agent" }
  const start = async (background: BackgroundConfigInput, more: Partial<ToolCall> = {}) => {
    const { meanwhile } = await createWorkplace({ tools: [echo, agent], background })
    return meanwhile.tasks.start({ tool: "echo", input: {}, ...more })
  }
  expect(await start({ lifetime: "forever" })).toMatchObject({ lifetime: "forever", limits: { timeoutMs: null } })
  expect(await start({ lifetime: "forever" }, { lifetime: "runtime" })).toMatchObject({
    lifetime: "runtime",
    limits: { timeoutMs: 300_000 },
  })
  expect((await start({ lifetime: "forever" }, { tool: "agent" })).lifetime).toBe("runtime")
  const session = createSessionId()
  expect((await start({ lifetime: "session" }, { session })).lifetime).toBe("session")
  expect(await start({ lifetime: "session", defaultTimeoutSeconds: null })).toMatchObject({
    lifetime: "runtime",
    limits: { timeoutMs: null },
  })
})
