import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { backgroundCapable } from "../../src/plugin/background-adapter.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { openRunner } from "../support/open-runner.ts"
import { openTestEngine } from "../support/test-engine.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

const HOUR_MS = 3_600_000

/** A runner whose own clock is wrong by so much, in a store that goes by another. */
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
  return { tasks, engine, stores, gated, now: stores.now() }
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
  "what a plugin cleans up was used long enough ago by the store's time where the clock is wrong by %i ms",
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
