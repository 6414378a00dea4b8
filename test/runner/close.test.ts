import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { nextTimer } from "../support/next-timer.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

/** Less than the threshold, and no other timer's length. */
const DRAIN_MS = 7_000

test("closing lets work end by itself for a while, then stops it", async () => {
  const clock = createManualClock()
  const gated = createGatedTool({ obeys: true })
  const { meanwhile, another } = await createWorkplace({ tools: [gated.tool], clock })
  const quick = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const slow = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const foreground = meanwhile.tasks.execute({ tool: "gated", input: {} })
  await gated.call(3)
  const draining = nextTimer(clock, DRAIN_MS)
  const closing = meanwhile.close({ drainMs: DRAIN_MS })
  await expect(meanwhile.tasks.start({ tool: "gated", input: {} })).rejects.toMatchObject({ code: "closed" })
  ;(await gated.call(1)).finish("in time")
  expect((await meanwhile.tasks.result(quick.id, { waitMs: 60_000 })).task.status).toBe("completed")
  await draining
  clock.advance(DRAIN_MS)
  await closing
  expect(await foreground.answer).toMatchObject({ outcome: "cancelled", by: "shutdown" })
  const second = await another()
  expect((await second.tasks.get(quick.id)).task).toMatchObject({ status: "completed", patch: { payload: "in time" } })
  expect((await second.tasks.get(slow.id)).task).toMatchObject({ status: "cancelled", stop: { by: "shutdown" } })
})

test("a task that a run starts during the drain is queued, and run at the next start", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile, another } = await createWorkplace({ tools: [gated.tool, echo] })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { context, finish } = await gated.call(1)
  const closing = meanwhile.close({ drainMs: 60_000 })
  const askedBy = { taskId: context.taskId, run: 1, key: "child" }
  const child = await context.tasks.start({ tool: "echo", input: {}, askedBy })
  expect(child.status).toBe("queued")
  finish("done")
  await closing
  await expect(context.tasks.start({ tool: "echo", input: {} })).rejects.toMatchObject({ code: "closed" })
  const second = await another()
  expect((await second.tasks.get(id)).task.status).toBe("completed")
  expect((await second.tasks.result(child.id, { waitMs: 20_000 })).task.status).toBe("completed")
})

test("a call that a run makes during the drain is answered, also when it is allowed only then", async () => {
  const gated = createGatedTool({ obeys: true })
  const allowed = Promise.withResolvers<{ allowed: true }>()
  const decide = ({ tool }: { tool: string }) => (tool === "echo" ? allowed.promise : ({ allowed: true } as const))
  const options = { tools: [gated.tool, echo], permissions: { decide } }
  const { meanwhile } = await createWorkplace(options)
  await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { context, finish } = await gated.call(1)
  const closing = meanwhile.close({ drainMs: 60_000 })
  const { answer } = context.tasks.execute({ tool: "echo", input: { value: 7 } })
  allowed.resolve({ allowed: true })
  expect(await answer).toMatchObject({ outcome: "completed", patch: { payload: 7 } })
  finish("done")
  await closing
  await expect(context.tasks.execute({ tool: "echo", input: {} }).answer).rejects.toMatchObject({ code: "closed" })
})

test("calls that a run makes until its stop is stored are stopped, too", async () => {
  const caller = createGatedTool({ obeys: true })
  const called = createGatedTool({ name: "called", obeys: true, background: { mode: "never" } })
  const { meanwhile } = await createWorkplace({ tools: [caller.tool, called.tool] })
  await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { context } = await caller.call(1)
  const closing = meanwhile.close()
  const answers: Promise<unknown>[] = []
  let isRefused = false
  while (!isRefused) {
    const { answer } = context.tasks.execute({ tool: "called", input: {} })
    answers.push(answer.catch(() => (isRefused = true)))
    await nextTurn()
  }
  await closing
  const stopped = { outcome: "cancelled", by: "shutdown" }
  expect(await Promise.all(answers.slice(0, called.calls.length))).toMatchObject(called.calls.map(() => stopped))
  expect(called.calls).not.toEqual([])
})

test("a signal ends the drain early", async () => {
  const clock = createManualClock()
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock })
  await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { context } = await gated.call(1)
  const hurry = new AbortController()
  const draining = nextTimer(clock, DRAIN_MS)
  const closing = meanwhile.close({ drainMs: DRAIN_MS, signal: hurry.signal })
  await draining
  expect(context.signal.aborted).toBe(false)
  hurry.abort()
  await closing
  expect(context.signal.aborted).toBe(true)
})

test("closing twice closes once, and the second waits for the first", async () => {
  const clock = createManualClock()
  const gated = createGatedTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock })
  await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { context, finish } = await gated.call(1)
  const first = meanwhile.tasks.close()
  let isClosed = false
  const second = meanwhile.tasks.close().then(() => {
    isClosed = true
  })
  await new Promise((resolve) => context.signal.addEventListener("abort", resolve))
  expect(isClosed).toBe(false)
  finish()
  await Promise.all([first, second])
  await meanwhile.close()
})

test("no run begins unnoticed during a shutdown", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile, another } = await createWorkplace({ tools: [gated.tool, echo] })
  const decision = Promise.withResolvers<void>()
  await meanwhile.plugins.register(
    definePlugin({
      kind: "tool",
      name: "slow-to-decide",
      tools: [],
      async beforeToolCall({ tool }) {
        if (tool === "echo") await decision.promise
        return { decision: "allow" }
      },
    }),
  )
  const late = meanwhile.tasks.execute({ tool: "echo", input: {} })
  const started = meanwhile.tasks.start({ tool: "gated", input: {} })
  const adopted = meanwhile.tasks.adopt({ tool: "gated", input: {} }, new Promise(() => {}))
  await Promise.resolve()
  const closing = meanwhile.close()
  decision.resolve()
  await expect(late.answer).rejects.toMatchObject({ code: "closed" })
  const outcomes = await Promise.allSettled([started, adopted, closing])
  expect(outcomes[2]?.status).toBe("fulfilled")
  const second = await another()
  const { items } = await second.tasks.list({})
  for (const { status } of items) expect(status).toMatch(/cancelled|queued|completed/)
}, 15_000)

test("a wait for a task returns the task as it stands when the runner closes", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], background: { maxConcurrentTasks: 1 } })
  await meanwhile.tasks.start({ tool: "gated", input: {} })
  const queued = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const waiting = meanwhile.tasks.result(queued.id, { waitMs: 600_000 })
  const [settled] = await Promise.all([Promise.allSettled([waiting]), meanwhile.close()])
  expect(settled[0]).toMatchObject(
    settled[0]?.status === "fulfilled" ? { value: { task: { status: "queued" } } } : { reason: { code: "closed" } },
  )
})
