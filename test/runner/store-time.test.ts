import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { backgroundCapable } from "../../src/plugin/background-adapter.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { TaskId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { openRunner } from "../support/open-runner.ts"
import { openTestEngine } from "../support/test-engine.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

const HOUR_MS = 3_600_000

/** A runner whose own clock is wrong by so much, and a store that goes by another clock. */
async function openWrong(byMs: number) {
  const folder = createFolder()
  const stores = createManualClock()
  const own = createManualClock(stores.now() + byMs)
  const engine = await openTestEngine(folder, { clock: stores })
  const asked = { allowed: "ask", question: { kind: "approval", text: "May it?" }, expiresInMs: HOUR_MS } as const
  const gated = createGatedTool({ obeys: true })
  const tasks = await openRunner(folder, {
    engine,
    clock: own,
    tools: [echo, gated.tool],
    permission: { decide: async ({ tool }) => (tool === "echo" ? asked : { allowed: true }) },
  })
  return { tasks, engine, stores, own, gated, now: stores.now() }
}

test.each([2 * HOUR_MS, -2 * HOUR_MS])(
  "an approval expires by the store's time where the clock is wrong by %i ms",
  async (byMs) => {
    const { tasks, engine, now } = await openWrong(byMs)
    const { id } = await tasks.start({ tool: "echo", input: { value: "asked" } })
    expect(await engine.store.waits({ taskId: id })).toMatchObject([{ openedAt: now, expiresAt: now + HOUR_MS }])
  },
)

test.each([2 * HOUR_MS, -2 * HOUR_MS])(
  "a promoted call began by the store's time where the clock is wrong by %i ms",
  async (byMs) => {
    const { tasks, now } = await openWrong(byMs)
    const call = tasks.execute({ tool: "gated", input: {} })
    expect(await call.promote()).toBe(true)
    const answer = await call.answer
    if (answer.outcome !== "promoted") throw new Error(answer.outcome)
    expect(answer.task.startedAt).toBe(now)
  },
)

test.each([2 * HOUR_MS, -2 * HOUR_MS])(
  "a plugin cleans up results that were used long enough ago by the store's time where the clock is wrong by %i ms",
  async (byMs) => {
    const { tasks, stores, gated } = await openWrong(byMs)
    const plugin = definePlugin({ kind: "tool", name: "test", tools: [gated.tool] })
    const capable = backgroundCapable(plugin, tasks)
    const { taskId } = await capable.startBackground("gated", {})
    ;(await gated.call(1)).finish("done")
    await capable.getResult(taskId, true)
    expect(await capable.cleanupCompleted(HOUR_MS / 1_000)).toBe(0)
    stores.advance(HOUR_MS)
    expect(await capable.cleanupCompleted(HOUR_MS / 1_000)).toBe(1)
  },
)

test.each([2 * HOUR_MS, -2 * HOUR_MS])(
  "a used result is kept for an hour of the store's time where the clock is wrong by %i ms",
  async (byMs) => {
    const { tasks, engine, stores, own, gated } = await openWrong(byMs)
    const use = async (number: number) => {
      const { id } = await tasks.start({ tool: "gated", input: {} })
      ;(await gated.call(number)).finish("done")
      await tasks.result(id, { consume: true, waitMs: 30_000 })
      return id
    }
    const old = await use(1)
    stores.advance(HOUR_MS + 1)
    const fresh = await use(2)
    const strippedAt = async (id: TaskId) => (await engine.store.task(id))?.strippedAt
    await eventually("the old one is taken away", async () => {
      own.advance(60_000)
      return typeof (await strippedAt(old)) === "number"
    })
    expect(await strippedAt(fresh)).toBeNull()
  },
)
