import { expect, test } from "vitest"
import type { ToolCall } from "../../src/plugin/task-service.ts"
import { eventually } from "../support/eventually.ts"
import { echo } from "../support/tools.ts"
import { lastSaid, openAgent } from "../support/session/open-agent.ts"

const MANY = 2_100
const LIMITS = { maxConcurrentTasks: MANY, maxConcurrentPerPlugin: MANY, maxConcurrentPerSession: MANY }

test("what is never told by itself, however much of it there is, keeps nothing else from being told", async () => {
  const { session, model, start, ended } = await openBusyAgent()
  await Promise.all(Array.from({ length: MANY }, (_, index) => start(`silent ${index}`, { notify: "silent" })))
  const { id } = await start("bread")
  await ended()
  await session.send("what now?")
  expect(lastSaid(model, -1)).toContain(`Task ${id} ("echo"): completed.\n| bread`)
  expect(lastSaid(model, -1)).not.toContain("silent")
})

test("members of a group that reports nothing, however many, keep nothing else from being told", async () => {
  const { runtime, session, model, start, ended } = await openBusyAgent()
  const group = await runtime.tasks.groups.open({ name: "quiet", session: session.id, report: "none" })
  await Promise.all(Array.from({ length: MANY }, (_, index) => start(`quiet ${index}`, { group: group.id })))
  const { id } = await start("bread")
  await ended()
  await session.send("what now?")
  expect(lastSaid(model, -1)).toContain(`Task ${id} ("echo"): completed.\n| bread`)
  expect(lastSaid(model, -1)).not.toContain("quiet")
})

test("members of a group that others still join, however many have ended, keep nothing else from being told", async () => {
  const { runtime, session, model, start, ended } = await openBusyAgent()
  const group = await runtime.tasks.groups.open({ name: "crumbs", session: session.id })
  await Promise.all(Array.from({ length: MANY }, (_, index) => start(`crumb ${index}`, { group: group.id })))
  const { id } = await start("bread")
  await ended()
  await session.send("what now?")
  expect(lastSaid(model, -1)).toContain(`Task ${id} ("echo"): completed.\n| bread`)
  expect(lastSaid(model, -1)).not.toContain("crumb")
})

async function openBusyAgent() {
  const agent = await openAgent(["Well."], { tools: [echo], background: LIMITS })
  const { tasks } = agent.runtime
  const session = agent.session.id
  const live = { session, statuses: ["queued", "running"] } as const
  return {
    ...agent,
    start: (value: string, how: Pick<ToolCall, "notify" | "group"> = {}) =>
      tasks.start({ tool: "echo", input: { value }, session, ...how }),
    ended: () => eventually("all have ended", async () => (await tasks.list(live, { limit: 1 })).items.length === 0),
  }
}
