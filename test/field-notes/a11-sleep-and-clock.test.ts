import { describe, expect, test } from "vitest"
import { createManualClock, type ManualClock } from "../../src/base/manual-clock.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

describe("A11. A laptop that slept, or a clock that jumped, does not fail or lose tasks", () => {
  async function prepare() {
    const clock = createManualClock()
    const gated = createGatedTool()
    const workplace = await createWorkplace({ tools: [gated.tool], clock, background: { maxConcurrentTasks: 1 } })
    return { ...workplace, clock, gated, tasks: workplace.meanwhile.tasks }
  }

  for (const [what, move] of [
    ["a night's sleep", (clock) => clock.suspend(8 * HOUR_MS)],
    ["a clock set a day forward", (clock) => clock.jump(DAY_MS)],
    ["a clock set a day back", (clock) => clock.jump(-DAY_MS)],
  ] as const satisfies readonly [string, (clock: ManualClock) => void][]) {
    test(`${what} costs a running task none of its time, and a queued one not its place`, async () => {
      const { clock, gated, tasks } = await prepare()
      const running = await tasks.start({ tool: "gated", input: {}, timeoutMs: 60_000 })
      const queued = await tasks.start({ tool: "gated", input: {}, timeoutMs: 60_000 })
      const call = await gated.call(1)
      clock.advance(30_000)
      move(clock)
      clock.advance(29_999)
      expect((await tasks.get(running.id)).task.status).toBe("running")
      expect((await tasks.get(queued.id)).placeInQueue).toBe(1)
      call.finish("awake")
      expect((await tasks.result(running.id, { waitMs: 30_000 })).task).toMatchObject({
        status: "completed",
        patch: { payload: "awake" },
      })
      ;(await gated.call(2)).finish("after it")
      expect((await tasks.result(queued.id, { waitMs: 30_000 })).task).toMatchObject({ status: "completed" })
      expect(gated.calls).toHaveLength(2)
    })

    test(`${what} does not take a step away from its run`, async () => {
      const { clock, gated, tasks } = await prepare()
      const { id } = await tasks.start({ tool: "gated", input: {} })
      const call = await gated.call(1)
      move(clock)
      expect(await call.context.step("act", async () => "done")).toBe("done")
      call.finish()
      expect((await tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
    })

    test(`${what} does not make a call in the foreground end or answer`, async () => {
      const { clock, gated, tasks } = await prepare()
      const execution = tasks.execute({ tool: "gated", input: {} })
      const call = await gated.call(1)
      clock.advance(5_000)
      move(clock)
      clock.advance(4_999)
      call.finish("in the foreground")
      expect(await execution.answer).toMatchObject({ outcome: "completed" })
    })
  }

  test("the limit is still enforced after all that, by time that was really spent", async () => {
    const { clock, gated, tasks } = await prepare()
    const { id } = await tasks.start({ tool: "gated", input: {}, timeoutMs: 60_000 })
    const call = await gated.call(1)
    clock.suspend(DAY_MS)
    clock.jump(-2 * DAY_MS)
    clock.advance(60_000)
    await eventually("it is stopped", async () => (await tasks.get(id)).task.status === "stopping")
    call.finish()
    expect((await tasks.result(id, { waitMs: 30_000 })).task.status).toBe("timed_out")
  })

  test("a task that was put off starts although the clock was set back", async () => {
    const { clock, gated, tasks } = await prepare()
    const { id } = await tasks.start({ tool: "gated", input: {}, delayMs: 60_000, lifetime: "forever" })
    clock.jump(-HOUR_MS)
    const call = await eventually("it starts", () => {
      clock.advance(HOUR_MS / 4)
      return gated.calls[0]
    })
    call.finish()
    expect((await tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
  })

  test("of two processes that stood still together, neither takes the other's tasks when they go on", async () => {
    const gated = createGatedTool()
    const clocks = [createManualClock(), createManualClock()] as const
    const { meanwhile, another } = await createWorkplace({ tools: [gated.tool], clock: clocks[0] })
    const other = await another({ clock: clocks[1] })
    const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
    const call = await gated.call(1)
    async function pass(clock: ManualClock, durationMs: number): Promise<void> {
      clock.advance(durationMs)
      // Timers that have become due read and write the store, which takes a few turns of the event loop.
      for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate)
    }
    // While both are awake, the other one looks at the leases and sees them renewed.
    for (let second = 0; second < 20; second++) for (const clock of clocks) await pass(clock, 1_000)
    expect((await other.tasks.get(id)).task.status).toBe("running")
    await pass(clocks[1], 60_000)
    await pass(clocks[1], 4_000)
    await pass(clocks[1], 4_000)
    await pass(clocks[0], 60_000)
    expect(await call.context.step("act", async () => "done")).toBe("done")
    call.finish("both awake")
    const { task } = await meanwhile.tasks.result(id, { waitMs: 30_000 })
    expect(task).toMatchObject({ status: "completed", patch: { payload: "both awake" } })
    expect(gated.calls).toHaveLength(1)
  })
})
