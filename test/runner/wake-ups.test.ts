import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { Engine } from "../../src/task/engine.ts"
import { eventually } from "../support/eventually.ts"
import { openRunner } from "../support/open-runner.ts"
import { openTestEngine } from "../support/test-engine.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

async function openEngine() {
  const directory = createFolder()
  const clock = createManualClock()
  const open = () => openTestEngine(directory, { clock })
  return { directory, clock, open }
}

const nothing = () => () => {}

/** Every wake-up is lost on its way. */
function withoutWakes(engine: Engine): Engine {
  return {
    ...engine,
    bus: { subscribe: nothing, subscribeTask: nothing },
    dispatcher: { ...engine.dispatcher, onOffer: nothing },
  }
}

test("results, queued work and stops arrive within the safety poll when every wake-up is lost", async () => {
  const { directory, clock, open } = await openEngine()
  const gated = createGatedTool({ obeys: true })
  const working = await openRunner(directory, { engine: withoutWakes(await open()), clock, tools: [gated.tool] })
  const asking = await openRunner(directory, { engine: withoutWakes(await open()), clock, tools: [] })
  const first = await working.start({ tool: "gated", input: {}, delayMs: 10 })
  const result = asking.result(first.id, { waitMs: 1e9 })
  clock.advance(1_000)
  await gated.call(1)
  await asking.cancel(first.id)
  const { context } = await gated.call(1)
  clock.advance(1_000)
  await eventually("the stop is obeyed", () => context.signal.aborted)
  const { store } = await open()
  await eventually("its end is written", async () => (await store.task(first.id))?.status === "cancelled")
  clock.advance(5_000)
  expect((await result).task.status).toBe("cancelled")
})

test("a stop that another process wrote is applied at the wake-up about its task", async () => {
  const { directory, clock, open } = await openEngine()
  const gated = createGatedTool({ obeys: true })
  const engine = await open()
  const working = await openRunner(directory, { engine, clock, tools: [gated.tool] })
  const asking = await openRunner(directory, { engine, clock, tools: [] })
  const { id } = await working.start({ tool: "gated", input: {} })
  const { context } = await gated.call(1)
  clock.advance(100)
  await asking.cancel(id)
  await eventually("the stop is obeyed", () => context.signal.aborted)
  expect(clock.monotonic()).toBe(100)
})

test("wake-ups about what runs here cost a look now and then, not each", async () => {
  const { directory, clock, open } = await openEngine()
  const gated = createGatedTool({ obeys: true })
  const engine = await open()
  const working = await openRunner(directory, { engine, clock, tools: [gated.tool] })
  await working.start({ tool: "gated", input: {} })
  const { context } = await gated.call(1)
  const { tasks } = engine.store
  let looks = 0
  Object.assign(engine.store, {
    tasks: (...asked: Parameters<typeof tasks>) => {
      looks += 1
      return tasks(...asked)
    },
  })
  for (let step = 0; step < 50; step++) await context.step(`step ${step}`, async () => step)
  clock.advance(60)
  expect(looks).toBeLessThanOrEqual(2)
})

test("a task that comes during a look into the queue is queued, and overtakes nothing that may be in the queue", async () => {
  const { directory, clock, open } = await openEngine()
  const engine = await open()
  const looked = Promise.withResolvers<void>()
  const take: Engine["dispatcher"]["take"] = async (request) => {
    const offers = await engine.dispatcher.take(request)
    await looked.promise
    return offers
  }
  const gated = createGatedTool({ obeys: true })
  const slow = { ...engine, dispatcher: { ...engine.dispatcher, take } }
  const runner = await openRunner(directory, { engine: slow, clock, tools: [gated.tool] })
  for (const name of ["first", "second"]) {
    expect((await runner.start({ tool: "gated", input: { name } })).status).toBe("queued")
  }
  looked.resolve()
  await gated.call(2)
  expect(gated.calls.map(({ input }) => input.name)).toEqual(["first", "second"])
})
