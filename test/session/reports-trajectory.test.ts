import { describe, expect, test } from "vitest"
import type { TaskId } from "../../src/task/id.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { GcPlugin } from "../../src/plugin/gc-plugin.ts"
import { lastSaid, PLACES } from "../support/session/open-agent.ts"
import { openReporting, starts, tasksOf, waitForEnds, waitForReports } from "../support/session/reporting.ts"
import { openSurvey } from "../support/session/survey.ts"

const OFF = { reports: { enabled: false } } as const

describe.each(PLACES)("the trajectory, %s", (_, isKept) => {
  test("001-13: a result has its task, group, short summary, payload, facts, artifacts, consumed and its time", async () => {
    const agent = await openSurvey(isKept)
    const [taskId] = await tasksOf(agent)
    const [result] = [...(await agent.session.trajectory.unconsumed()).values()]
    expect(result).toEqual({
      taskId,
      groupId: null,
      status: "completed",
      summary: "Found a treasure.",
      payload: { treasure: "p".repeat(5_000) },
      facts: { depth: 3 },
      artifacts: [{ hash: expect.stringMatching(/^sha256:/), name: "map", mediaType: "text/plain", bytes: 16 }],
      consumed: false,
      completedAt: expect.any(Number),
    })
  })

  test("001-14: everything but completed is failed, and the summary says which", async () => {
    const agent = await openReporting([starts("a", "b"), "They run."], { ...OFF, isKept })
    await agent.session.send("go")
    await agent.gated.call(2)
    ;(await agent.gated.call(1)).fail(new Error("no flour"))
    const [first, second = "" as TaskId] = await tasksOf(agent)
    await agent.runtime.tasks.cancel(second, { reason: "no time" })
    await waitForEnds(agent, await tasksOf(agent))
    const results = await agent.session.trajectory.unconsumed()
    expect(first && results.get(first)).toMatchObject({ status: "failed", summary: "failed: no flour" })
    expect(results.get(second)).toMatchObject({ status: "failed", summary: "cancelled: no time" })
  })

  test("001-15: results are added by their ends, marked once, and told apart from those that were used", async () => {
    const agent = await openReporting([starts("a", "b"), "They run.", "I see."], { ...OFF, isKept })
    const { session } = agent
    await session.send("go")
    await agent.gated.call(2)
    for (const { finish } of agent.gated.calls) finish("done")
    const [first = "" as TaskId, second = "" as TaskId] = await tasksOf(agent)
    await waitForEnds(agent, [first, second])
    expect([...(await session.trajectory.unconsumed()).keys()].toSorted()).toEqual([first, second].toSorted())
    expect(await session.trajectory.markConsumed([first])).toBe(1)
    expect(await session.trajectory.markConsumed([first])).toBe(0)
    expect([...(await session.trajectory.unconsumed()).keys()]).toEqual([second])
    expect(await session.trajectory.clearConsumed()).toBe(1)
    expect(await session.trajectory.clearConsumed()).toBe(0)
    await session.send("well?")
    expect(lastSaid(agent.model, -1)).not.toContain(first)
    expect(lastSaid(agent.model, -1)).toContain(second)
  })

  test("001-40: marking answers how many were not used before, of this session's own alone", async () => {
    const agent = await openSurvey(isKept)
    const other = await agent.runtime.createSession()
    const ids = await tasksOf(agent)
    expect(await other.trajectory.markConsumed(ids)).toBe(0)
    expect(await agent.session.trajectory.markConsumed([...ids, "00000000-0000-4000-8000-000000000000"])).toBe(1)
  })
})

test("001-48: a result is created, reported, used, and cleaned up", async () => {
  const agent = await openReporting([starts("bread"), "It runs.", "The bread is ready."])
  const { session } = agent
  await session.send("bake")
  session.disableReports()
  const call = await agent.gated.call(1)
  call.finish("a loaf")
  const [id = "" as TaskId] = await tasksOf(agent)
  await waitForEnds(agent, [id])
  expect((await session.trajectory.unconsumed()).get(id)?.consumed).toBe(false)
  session.enableReports()
  await waitForReports(agent, 1)
  expect((await session.trajectory.unconsumed()).size).toBe(0)
  const before = await agent.runtime.tasks.get(id)
  expect(before.task).toMatchObject({ strippedAt: null, patch: { payload: "a loaf" } })
  expect(await session.trajectory.clearConsumed()).toBe(1)
  const { task } = await agent.runtime.tasks.get(id)
  expect(task).toMatchObject({ status: "completed", strippedAt: expect.any(Number), patch: { payload: null } })
})

test("001-03: what nobody has used is not cleaned up", async () => {
  const agent = await openSurvey()
  expect(await agent.session.trajectory.clearConsumed()).toBe(0)
  expect((await agent.session.trajectory.unconsumed()).size).toBe(1)
})

test("001-05: unused results outlive a collection, and are told after it; the trajectory has them in short", async () => {
  const agent = await openReporting([starts("bread"), "It runs.", "I see."], OFF)
  const gc: GcPlugin = definePlugin({
    kind: "gc",
    name: "forgetful",
    shouldCollect: () => ({ isDue: false }),
    collect: (messages) => ({ messages: messages.slice(-1), removedMessages: 2, summary: "forgot" }),
  })
  await agent.session.send("bake")
  ;(await agent.gated.call(1)).finish("a loaf")
  await waitForEnds(agent, await tasksOf(agent))
  agent.session.setGc(gc)
  await agent.session.collect()
  expect((await agent.session.trajectory.unconsumed()).size).toBe(1)
  await agent.session.send("well?")
  expect(lastSaid(agent.model, -1)).toContain("| a loaf")
  const survey = await openSurvey()
  const [result] = [...(await survey.session.trajectory.unconsumed()).values()]
  expect(result?.summary?.length).toBeLessThan(500)
})
