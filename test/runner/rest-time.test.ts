import { expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const LIMIT_MS = 20_000

async function startResting() {
  const clock = createManualClock()
  const agent = createGatedTool({ name: "agent", kind: "agent", obeys: true })
  const { meanwhile, another } = await createWorkplace({ tools: [agent.tool], clock })
  const { id } = await meanwhile.tasks.start({ tool: "agent", input: {}, timeoutMs: LIMIT_MS })
  await agent.call(1)
  const rest = (restMs: number): void => {
    const goOn = meanwhile.tasks.rest(id)
    clock.advance(restMs)
    goOn()
  }
  return { clock, agent, meanwhile, another, id, rest }
}

test.each([
  { ends: "just within its limit", leftMs: 1, status: "completed" },
  { ends: "at its limit", leftMs: 0, status: "timed_out" },
])("a run that rests for longer than its limit and works until $ends is $status", async ({ leftMs, status }) => {
  const { clock, agent, meanwhile, id, rest } = await startResting()
  clock.advance(5_000)
  rest(100_000)
  clock.advance(5_000)
  rest(100_000)
  clock.advance(LIMIT_MS - 10_000 - leftMs)
  ;(await agent.call(1)).finish("done")
  expect((await meanwhile.tasks.result(id, { waitMs: 1e9 })).task.status).toBe(status)
})

test("two waits of one run at the same time are one rest", async () => {
  const { clock, agent, meanwhile, id } = await startResting()
  const goOn = [meanwhile.tasks.rest(id), meanwhile.tasks.rest(id)]
  clock.advance(100_000)
  goOn[0]?.()
  clock.advance(100_000)
  goOn[1]?.()
  clock.advance(LIMIT_MS - 1)
  ;(await agent.call(1)).finish("done")
  expect((await meanwhile.tasks.result(id, { waitMs: 1e9 })).task.status).toBe("completed")
})

test("a run that is handed back while it rests keeps the time that it ran before it rested", async () => {
  const { clock, agent, meanwhile, another, id } = await startResting()
  clock.advance(5_000)
  meanwhile.tasks.rest(id)
  clock.advance(100_000)
  await meanwhile.close()
  const second = await another()
  await agent.call(2)
  expect((await second.tasks.get(id)).task.ranMs).toBe(5_000)
})

test("a run that is handed back keeps the time that it ran, and not the time that it rested", async () => {
  const { clock, agent, meanwhile, another, id, rest } = await startResting()
  clock.advance(5_000)
  rest(100_000)
  clock.advance(5_000)
  await meanwhile.close()
  const second = await another()
  await agent.call(2)
  expect((await second.tasks.get(id)).task.ranMs).toBe(10_000)
  clock.advance(LIMIT_MS - 10_000 - 1)
  expect((await second.tasks.get(id)).task.status).toBe("running")
  clock.advance(1)
  expect((await second.tasks.result(id, { waitMs: 1e9 })).task.status).toBe("timed_out")
})
