import { describe, expect, test } from "vitest"
import type { JsonObject } from "../../src/base/json.ts"
import { eventually } from "../support/eventually.ts"
import { openGrouping, spawns } from "../support/session/group-agent.ts"
import { lastSaid } from "../support/session/open-agent.ts"
import {
  eventsOf,
  notificationsOf,
  type ReportingAgent,
  reportsOf,
  tasksOf,
  waitForEnds,
  waitForReports,
} from "../support/session/reporting.ts"

const NAMES = ["north", "east", "south"]

async function startGroup(group: JsonObject, ...more: readonly string[]): Promise<ReportingAgent> {
  const agent = await openGrouping([spawns(NAMES, { group: "walls", ...group }), "They run.", ...more])
  await agent.session.send("build the walls")
  await agent.gated.call(NAMES.length)
  return agent
}

function callOf({ gated }: ReportingAgent, name: string) {
  const found = gated.calls.find(({ input }) => input.name === name)
  if (!found) throw new Error(`${name} was not started`)
  return found
}

const openWaits = ({ runtime }: ReportingAgent) => runtime.engine.store.waits({ isOpen: true })

describe("C6", () => {
  test("the report of a group holds the content of every member, also with the default merge strategy", async () => {
    const agent = await startGroup({}, "The walls stand.")
    for (const name of ["south", "north"]) callOf(agent, name).finish(`${name} is up`)
    const [north, , south] = await tasksOf(agent)
    await waitForEnds(
      agent,
      [north, south].filter((id) => id !== undefined),
    )
    await agent.session.reported()
    expect(reportsOf(agent)).toEqual([])
    callOf(agent, "east").finish("east is up")
    expect(await waitForReports(agent, 1)).toEqual(["The walls stand."])
    const told = lastSaid(agent.model, -1)
    expect(told).toContain('3 tasks of the group "walls" have ended: 3 completed.')
    const lines = told.split("\n")
    expect(lines.filter((line) => /^\d\. /.test(line)).map((line) => line.replace(/Task \S+ /, ""))).toEqual(
      NAMES.map((name, index) => `${index + 1}. ("${name}"): completed.`),
    )
    for (const name of NAMES) expect(lines).toContain(`| Summary: ${name} is up`)
    const [published] = eventsOf(agent, "report.published")
    expect(published?.report.taskIds.toSorted()).toEqual((await tasksOf(agent)).toSorted())
    expect(published?.report.groupId).toMatch(/^[0-9a-f-]{36}$/)
    expect(eventsOf(agent, "report.started")[0]?.group?.name).toBe("walls")
  })

  test("a group that is cancelled is told once, when all of its members have ended", async () => {
    const script = [spawns(NAMES, { group: "walls" }), "They run.", "It was cancelled."]
    const agent = await openGrouping(script, { obeys: false })
    await agent.session.send("build the walls")
    await agent.gated.call(NAMES.length)
    callOf(agent, "north").finish("north is up")
    const ids = await tasksOf(agent)
    const [north, east, south] = ids
    await waitForEnds(agent, north ? [north] : [])
    const [group] = await agent.runtime.tasks.groups.list()
    await agent.runtime.tasks.groups.cancel(group?.id ?? "", { by: "person" })
    await agent.session.reported()
    expect(reportsOf(agent)).toEqual([])
    for (const name of ["east", "south"]) callOf(agent, name).fail(new Error("stopped"))
    await waitForEnds(
      agent,
      [east, south].filter((id) => id !== undefined),
    )
    expect(await waitForReports(agent, 1)).toEqual(["It was cancelled."])
    const [published] = eventsOf(agent, "report.published")
    expect(published?.report.taskIds.toSorted()).toEqual(ids.toSorted())
  })

  test("`report: none` sends none", async () => {
    const agent = await startGroup({ group_report: "none" }, "I know of nothing.")
    for (const name of NAMES) callOf(agent, name).finish(`${name} is up`)
    await waitForEnds(agent, await tasksOf(agent))
    await agent.session.reported()
    await agent.session.send("well?")
    expect(lastSaid(agent.model, -1)).toBe("well?")
    expect([reportsOf(agent), notificationsOf(agent)]).toEqual([[], []])
  })

  test("one failure of two says which, and gives the other's result", async () => {
    const agent = await openGrouping([spawns(["gate", "tower"], { group: "castle" }), "They run.", "Half of it."])
    await agent.session.send("build")
    await agent.gated.call(2)
    callOf(agent, "gate").finish("the gate is up")
    callOf(agent, "tower").fail(new Error("the tower fell"))
    await waitForReports(agent, 1)
    const told = lastSaid(agent.model, -1)
    expect(told).toContain('2 tasks of the group "castle" have ended: 1 completed, 1 failed.')
    expect(told).toMatch(/\("gate"\): completed\.\n\| Summary: the gate is up/)
    expect(told).toMatch(/\("tower"\): failed\.\n\| the tower fell/)
  })

  test("three gated tasks ask one approval, and are told when a person has let them be used", async () => {
    const agent = await startGroup({ merge_strategy: "human_gated" }, "They are in use.")
    for (const name of NAMES) callOf(agent, name).finish(`${name} is up`)
    const wait = await eventually("a person is asked", async () => (await openWaits(agent))[0])
    await agent.session.reported()
    expect(reportsOf(agent)).toEqual([])
    expect(await openWaits(agent)).toHaveLength(1)
    await agent.runtime.tasks.answer(wait.id, true, "test")
    await waitForReports(agent, 1)
    const told = lastSaid(agent.model, -1)
    expect(told).toContain("A person has looked at the results and lets them be used.")
    for (const name of NAMES) expect(told.split(`${name} is up`)).toHaveLength(2)
    expect((await agent.session.trajectory.unconsumed()).size).toBe(0)
  })

  test("what a person turned down is told as turned down, without the results", async () => {
    const agent = await startGroup({ merge_strategy: "human_gated" }, "They are not used.")
    for (const name of NAMES) callOf(agent, name).finish(`${name} is up`)
    const wait = await eventually("a person is asked", async () => (await openWaits(agent))[0])
    await agent.runtime.tasks.answer(wait.id, false, "test")
    await waitForReports(agent, 1)
    const told = lastSaid(agent.model, -1)
    expect(told).toContain('The results of the group "walls" were turned down and are not used.')
    expect(told).not.toContain("is up")
    expect((await agent.session.trajectory.unconsumed()).size).toBe(0)
  })
})

test("members that report each are told singly", async () => {
  const agent = await startGroup({ group_report: "each" }, "North stands.")
  callOf(agent, "north").finish("north is up")
  await waitForReports(agent, 1)
  expect(lastSaid(agent.model, -1)).toContain('("north"): completed.\n| Summary: north is up')
})

test("a group that replaces makes what an earlier one of its name came to void", async () => {
  const replacing = { group: "plan", merge_strategy: "replace" }
  const script = [spawns(["first"], replacing), "It runs.", spawns(["second"], replacing), "It runs.", "The new plan."]
  const agent = await openGrouping(script)
  agent.session.disableReports()
  await agent.session.send("plan")
  await agent.session.send("plan again")
  callOf(agent, "first").finish("the old plan")
  callOf(agent, "second").finish("the new plan")
  await waitForEnds(agent, await tasksOf(agent))
  agent.session.enableReports()
  await waitForReports(agent, 1)
  const told = lastSaid(agent.model, -1)
  expect(told).toContain("the new plan")
  expect(told).not.toContain("the old plan")
  expect((await agent.session.trajectory.unconsumed()).size).toBe(0)
})

test("a merge strategy that is not among those reported waits for the next message", async () => {
  const script = [spawns(["first"], { group: "plan", merge_strategy: "replace" }), "It runs.", "I see."]
  const agent = await openGrouping(script, { reports: { strategies: ["append"] } })
  await agent.session.send("plan")
  callOf(agent, "first").finish("a plan")
  await eventually("the person is told", () => notificationsOf(agent).length === 1)
  await agent.session.reported()
  expect(agent.model.callCount).toBe(2)
  await agent.session.send("well?")
  expect(lastSaid(agent.model, -1)).toContain("| a plan")
})
