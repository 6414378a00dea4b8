import { expect, test } from "vitest"
import { MeanwhileError } from "../../src/base/error.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { eventually } from "../support/eventually.ts"
import { nextTimer } from "../support/next-timer.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

/** How often a drain looks for what can be handed back. */
const LOOK_EVERY_MS = 500

test("agents go back to the queue and go on at the next start, with the steps they had finished", async () => {
  const agent = createGatedTool({ name: "agent", kind: "agent", obeys: true })
  const { meanwhile, another } = await createWorkplace({ tools: [agent.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "agent", input: {} })
  const { context } = await agent.call(1)
  await context.step("a", async () => "kept")
  await meanwhile.close()
  const second = await another()
  const call = await agent.call(2)
  expect(await call.context.step("a", async () => expect.unreachable())).toBe("kept")
  call.finish("whole")
  expect((await second.tasks.result(id, { waitMs: 20_000 })).task).toMatchObject({ status: "completed", run: 1 })
})

test("an agent whose conversation closes with the program, before the agent is handed back, goes on at the next start", async () => {
  const agent = createGatedTool({ name: "agent", kind: "agent" })
  const { meanwhile, another } = await createWorkplace({ tools: [agent.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "agent", input: {} })
  const { fail } = await agent.call(1)
  const closing = meanwhile.close()
  fail(new MeanwhileError("closed", "The subagent was closed."))
  await closing
  const second = await another()
  ;(await agent.call(2)).finish("whole")
  expect((await second.tasks.result(id, { waitMs: 20_000 })).task).toMatchObject({ status: "completed", run: 1 })
})

test("while a worker drains, agents go back to the queue and tools come to their end, and others are told", async () => {
  const agent = createGatedTool({ name: "agent", kind: "agent", obeys: true })
  const gated = createGatedTool({ obeys: true })
  const { meanwhile, another } = await createWorkplace({ tools: [agent.tool, gated.tool] })
  const ofAgent = await meanwhile.tasks.start({ tool: "agent", input: {} })
  const ofTool = await meanwhile.tasks.start({ tool: "gated", input: {} })
  await agent.call(1)
  const { finish } = await gated.call(1)
  const closing = meanwhile.close({ drainMs: 600_000, handsBack: true })
  const looker = await another({ takesWork: false })
  await eventually("the agent is queued", async () => (await looker.tasks.get(ofAgent.id)).task.status === "queued")
  const worker = await eventually("others know", async () =>
    (await looker.tasks.workers()).find(({ announcement }) => announcement?.isLeaving),
  )
  expect(worker).toMatchObject({ running: 1, announcement: { kinds: [], plugins: {} } })
  expect((await looker.tasks.get(ofAgent.id)).missing?.text).toBe("no worker takes agent tasks")
  expect((await looker.tasks.get(ofTool.id)).task.status).toBe("running")
  finish("whole")
  await closing
  expect((await looker.tasks.get(ofTool.id)).task.status).toBe("completed")
  expect(await looker.tasks.workers()).not.toContainEqual(expect.objectContaining({ id: worker.id }))
})

test("an agent in the middle of a step is handed back when the step has ended, and the step is not lost", async () => {
  const agent = createGatedTool({ name: "agent", kind: "agent", obeys: true })
  const clock = createManualClock()
  const { meanwhile, another } = await createWorkplace({ tools: [agent.tool], clock })
  const { id } = await meanwhile.tasks.start({ tool: "agent", input: {} })
  const { context } = await agent.call(1)
  const paying = Promise.withResolvers<string>()
  const begun = Promise.withResolvers<void>()
  const effect = () => {
    begun.resolve()
    return paying.promise
  }
  const step = context.step("pay", effect, { onCrash: "fail" })
  await begun.promise
  let looked = nextTimer(clock, LOOK_EVERY_MS)
  const closing = meanwhile.close({ drainMs: 600_000, handsBack: true })
  for (let look = 0; look < 3; look++) {
    await looked
    looked = nextTimer(clock, LOOK_EVERY_MS)
    clock.advance(LOOK_EVERY_MS)
  }
  await looked
  expect(context.signal.aborted).toBe(false)
  paying.resolve("paid")
  await step
  await eventually("it is handed back", () => {
    clock.advance(LOOK_EVERY_MS)
    return context.signal.aborted
  })
  await closing
  const second = await another()
  const call = await agent.call(2)
  expect(await call.context.step("pay", async () => expect.unreachable())).toBe("paid")
  call.finish("whole")
  expect((await second.tasks.result(id, { waitMs: 20_000 })).task.status).toBe("completed")
})

test("an agent that ignores its signal does not hold the close, and goes on at the next start", async () => {
  const clock = createManualClock()
  const agent = createGatedTool({ name: "agent", kind: "agent" })
  const { meanwhile, another } = await createWorkplace({ tools: [agent.tool], clock })
  const { id } = await meanwhile.tasks.start({ tool: "agent", input: {} })
  const { context } = await agent.call(1)
  const closing = meanwhile.close()
  await new Promise((resolve) => context.signal.addEventListener("abort", resolve))
  clock.advance(30_000)
  await closing
  const second = await another()
  ;(await agent.call(2)).finish("whole")
  expect((await second.tasks.result(id, { waitMs: 60_000 })).task.status).toBe("completed")
})

test.each([
  { inFlight: ["ask", "fail"], becomes: "interrupted" },
  { inFlight: ["fail", "ask"], becomes: "interrupted" },
  { inFlight: ["retry", "fail"], becomes: "interrupted" },
  { inFlight: ["retry", "ask"], becomes: "waiting" },
  { inFlight: ["ask", "retry"], becomes: "waiting" },
  { inFlight: ["retry", "retry"], becomes: "queued" },
] as const)("of the steps in flight $inFlight, the most careful decides: $becomes", async ({ inFlight, becomes }) => {
  const agent = createGatedTool({ name: "agent", kind: "agent", obeys: true })
  const { meanwhile, another } = await createWorkplace({ tools: [agent.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "agent", input: {} })
  const { context } = await agent.call(1)
  const open = Promise.withResolvers<null>()
  const begun = inFlight.map((onCrash, index) => {
    const effect = Promise.withResolvers<void>()
    const take = () => {
      effect.resolve()
      return open.promise
    }
    context.step(`step ${index}`, take, { onCrash }).catch(() => {})
    return effect.promise
  })
  await Promise.all(begun)
  await meanwhile.close()
  const looker = await another({ takesWork: false })
  expect((await looker.tasks.get(id)).task.status).toBe(becomes)
})

test("an agent with a step in flight that may not be repeated is interrupted", async () => {
  const agent = createGatedTool({ name: "agent", kind: "agent", obeys: true })
  const { meanwhile, another } = await createWorkplace({ tools: [agent.tool] })
  const { id } = await meanwhile.tasks.start({ tool: "agent", input: {} })
  const { context } = await agent.call(1)
  const open = Promise.withResolvers<null>()
  const step = context.step("pay", () => open.promise, { onCrash: "fail" })
  step.catch(() => {})
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
  await meanwhile.close()
  const second = await another()
  expect((await second.tasks.get(id)).task).toMatchObject({ status: "interrupted", by: "shutdown" })
})
