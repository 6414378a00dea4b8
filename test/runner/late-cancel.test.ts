import { expect, test } from "vitest"
import { type Clock, systemClock } from "../../src/base/clock.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

/** A clock that counts the timers that would keep a process alive. */
function createCountingClock() {
  const holding = new Set<symbol>()
  const clock: Clock = {
    ...systemClock,
    schedule(delayMs, callback, options) {
      const timer = Symbol()
      if (!options?.isBackground) holding.add(timer)
      const end = () => holding.delete(timer)
      const cancel = systemClock.schedule(delayMs, () => (end(), callback()), options)
      return () => (end(), cancel())
    },
  }
  return { clock, holding }
}

test("cancelling a call that has its answer keeps no process alive", async () => {
  const { clock, holding } = createCountingClock()
  const { meanwhile } = await createWorkplace({ tools: [echo], clock })
  const execution = meanwhile.tasks.execute({ tool: "echo", input: { value: 1 } })
  expect(await execution.answer).toMatchObject({ outcome: "completed" })
  execution.cancel()
  await new Promise((resolve) => setImmediate(resolve))
  expect(holding.size).toBe(0)
})

test("cancelling a call while the last of its output is passed on keeps no process alive", async () => {
  const { clock, holding } = createCountingClock()
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock })
  const execution = meanwhile.tasks.execute({ tool: "gated", input: {} }, { onOutput: () => {} })
  const { context, finish } = await gated.call(1)
  context.output.write("the last of it")
  finish()
  await Promise.resolve()
  await Promise.resolve()
  execution.cancel()
  await execution.answer
  await new Promise((resolve) => setImmediate(resolve))
  expect(holding.size).toBe(0)
})
