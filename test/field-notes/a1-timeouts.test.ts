import { describe, expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

describe("A1. A timeout that was accepted is enforced, and ends as `timed_out`", () => {
  async function prepare(options: Parameters<typeof createGatedTool>[0] = {}) {
    const clock = createManualClock()
    const gated = createGatedTool(options)
    const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock })
    return { clock, gated, tasks: meanwhile.tasks }
  }

  test("of a tool that was started in the background", async () => {
    const { clock, gated, tasks } = await prepare({ obeys: true })
    const { id } = await tasks.start({ tool: "gated", input: {}, timeoutMs: 20_000 })
    await gated.call(1)
    clock.advance(19_999)
    expect((await tasks.get(id)).task.status).toBe("running")
    clock.advance(1)
    const { task } = await tasks.result(id, { waitMs: 30_000 })
    expect(task).toMatchObject({
      status: "timed_out",
      stop: { by: "deadline", reason: "it ran longer than its limit of 20 s" },
      survivors: [],
    })
  })

  test("of a tool that was promoted, counted from its first moment in the foreground", async () => {
    const { clock, gated, tasks } = await prepare({ obeys: true })
    const execution = tasks.execute({ tool: "gated", input: {}, timeoutMs: 20_000 })
    await gated.call(1)
    clock.advance(10_000)
    expect((await execution.answer).outcome).toBe("promoted")
    clock.advance(9_999)
    expect((await tasks.get(execution.taskId)).task.status).toBe("running")
    clock.advance(1)
    const { task } = await tasks.result(execution.taskId, { waitMs: 30_000 })
    expect(task).toMatchObject({ status: "timed_out", stop: { by: "deadline" } })
  })

  test("of a tool in the foreground that can never move to the background", async () => {
    const { clock, gated, tasks } = await prepare({ obeys: true, background: { mode: "never" } })
    const execution = tasks.execute({ tool: "gated", input: {}, timeoutMs: 3_000 })
    await gated.call(1)
    clock.advance(3_000)
    expect(await execution.answer).toMatchObject({ outcome: "timed_out", by: "deadline", survivors: [] })
    expect((await tasks.list({})).items).toEqual([])
  })

  test("of a tool that ignores it, which is then named as still alive", async () => {
    const { clock, gated, tasks } = await prepare()
    const { id } = await tasks.start({ tool: "gated", input: {}, timeoutMs: 20_000 })
    const call = await gated.call(1)
    clock.advance(20_000)
    await aborted(call.context.signal)
    expect((await tasks.get(id)).task.status).toBe("stopping")
    clock.advance(10_000)
    const { task } = await tasks.result(id, { waitMs: 30_000 })
    expect(task).toMatchObject({
      status: "timed_out",
      survivors: [{ pid: process.pid, command: "gated (inside this process)" }],
    })
  })

  test("of a tool that was never told one: the configured default, and the cap on every limit", async () => {
    const clock = createManualClock()
    const gated = createGatedTool({ obeys: true })
    const background = { defaultTimeoutSeconds: 30, timeoutOverrideSeconds: 60 }
    const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock, background })
    const { tasks } = meanwhile
    const unnamed = await tasks.start({ tool: "gated", input: {} })
    const generous = await tasks.start({ tool: "gated", input: {}, timeoutMs: 3_600_000 })
    await gated.call(2)
    clock.advance(30_000)
    expect((await tasks.result(unnamed.id, { waitMs: 30_000 })).task.status).toBe("timed_out")
    expect((await tasks.get(generous.id)).task.status).toBe("running")
    clock.advance(30_000)
    expect((await tasks.result(generous.id, { waitMs: 30_000 })).task.status).toBe("timed_out")
  })

  test("while time spent in the queue does not count", async () => {
    const clock = createManualClock()
    const gated = createGatedTool({ obeys: true })
    const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock, background: { maxConcurrentTasks: 1 } })
    const { tasks } = meanwhile
    await tasks.start({ tool: "gated", input: {}, timeoutMs: 200_000 })
    const second = await tasks.start({ tool: "gated", input: {}, timeoutMs: 20_000 })
    const first = await gated.call(1)
    clock.advance(100_000)
    expect((await tasks.get(second.id)).task.status).toBe("queued")
    first.finish()
    await gated.call(2)
    clock.advance(19_999)
    expect((await tasks.get(second.id)).task.status).toBe("running")
    clock.advance(1)
    expect((await tasks.result(second.id, { waitMs: 30_000 })).task.status).toBe("timed_out")
  })

  test("a limit that the input asks for comes first, whatever the threshold is", async () => {
    const timeoutMs = (input: unknown) => ((input as { name: string }).name === "short" ? 30_000 : undefined)
    const gated = createGatedTool({ obeys: true, timeoutMs })
    const clock = createManualClock()
    const background = { thresholdSeconds: 60 }
    const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock, background })
    const execution = meanwhile.tasks.execute({ tool: "gated", input: { name: "short" } })
    await gated.call(1)
    clock.advance(30_000)
    expect(await execution.answer).toMatchObject({ outcome: "timed_out", by: "deadline" })
    expect((await meanwhile.tasks.list({})).items).toEqual([])
    const early = meanwhile.tasks.execute({ tool: "gated", input: { name: "short" } })
    await gated.call(2)
    expect(await early.promote()).toBe(true)
  })

  test("but one that could never be kept is refused, and nothing starts", async () => {
    const { gated, tasks } = await prepare()
    const execution = tasks.execute({ tool: "gated", input: {}, timeoutMs: 10_000 })
    await expect(execution.answer).rejects.toMatchObject({ code: "invalid_input" })
    await expect(tasks.start({ tool: "gated", input: {}, timeoutMs: -1 })).rejects.toMatchObject({
      code: "invalid_input",
    })
    expect(gated.calls).toEqual([])
  })
})

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })
}
