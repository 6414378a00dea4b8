import { expect, test } from "vitest"
import { openGrouping, spawns } from "../support/session/group-agent.ts"
import { reportsOf, tasksOf, waitForEnds } from "../support/session/reporting.ts"

const GROUPS = ["north", "east", "south", "west", "roof"]
const COUNT = 2 * GROUPS.length + 2

test("C8. A full report queue coalesces, never drops: groups and single tasks", async () => {
  const calls = [...GROUPS.map((group) => spawns([`${group} 1`, `${group} 2`], { group })), spawns(["a", "b"], {})]
  const script = [...calls, "They run."]
  const background = { maxConcurrentTasks: 20, maxConcurrentPerPlugin: 20, maxConcurrentPerSession: 20 }
  const agent = await openGrouping(script, { background, reports: { enabled: false, maxQueued: 3 } })
  const { session } = agent
  await session.send("start them")
  await agent.gated.call(COUNT)
  for (const { input, finish } of agent.gated.calls) finish(`${input.name} is done`)
  const ids = await tasksOf(agent)
  await waitForEnds(agent, ids)
  const texts: string[] = []
  session.enableReports({
    generator: async ({ taskIds, groupId, resultsText }) => {
      texts.push(resultsText)
      return `${taskIds.length} tasks${groupId ? " of a group" : ""}`
    },
  })
  await session.reported()
  expect(reportsOf(agent)).toEqual(["2 tasks of a group", "2 tasks of a group", "8 tasks"])
  const told = texts.join("\n")
  expect(ids.map((id) => told.split(`Task ${id} (`).length - 1)).toEqual(ids.map(() => 1))
  for (const { input } of agent.gated.calls) expect(told).toContain(`| Summary: ${input.name} is done`)
  expect((await session.trajectory.unconsumed()).size).toBe(0)
})
