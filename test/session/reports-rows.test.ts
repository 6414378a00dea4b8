import { describe, expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createGate } from "../support/session/gate.ts"
import { openGrouping, spawns } from "../support/session/group-agent.ts"
import { lastSaid, openAgent, resultsOf } from "../support/session/open-agent.ts"
import {
  eventsOf,
  notificationsOf,
  openReporting,
  reportsOf,
  starts,
  tasksOf,
  waitForEnds,
  waitForReports,
} from "../support/session/reporting.ts"

const OFF = { reports: { enabled: false } } as const

describe("results come back", () => {
  test("001-02: of a group as one report", async () => {
    const agent = await openGrouping([spawns(["north", "south"], { group: "walls" }), "They run.", "Both stand."])
    await agent.session.send("build")
    await agent.gated.call(2)
    for (const { finish } of agent.gated.calls) finish("up")
    expect(await waitForReports(agent, 1)).toEqual(["Both stand."])
    await agent.session.reported()
    expect(reportsOf(agent)).toHaveLength(1)
  })

  test("001-06: only where somebody has enabled reports", async () => {
    const gated = createGatedTool({ background: { mode: "always" } })
    const agent = await openAgent([starts("bread"), "It runs.", "Ready."], { isKept: true, tools: [gated.tool] })
    await agent.session.send("bake")
    ;(await gated.call(1)).finish("a loaf")
    await waitForEnds(agent, await tasksOf(agent))
    await agent.session.reported()
    expect(eventsOf(agent, "report.started")).toEqual([])
    agent.session.enableReports()
    expect(await waitForReports(agent, 1)).toEqual(["Ready."])
  })

  test("001-53: with the next message where reports are off, as ever", async () => {
    const agent = await openReporting([starts("bread"), "It runs.", "I see."], OFF)
    await agent.session.send("bake")
    ;(await agent.gated.call(1)).finish("a loaf")
    await waitForEnds(agent, await tasksOf(agent))
    await agent.session.reported()
    expect(agent.model.callCount).toBe(2)
    expect(notificationsOf(agent)).toEqual([])
    await agent.session.send("well?")
    expect(lastSaid(agent.model, -1)).toContain("| a loaf")
  })

  test("001-10: a result is stored before a report of it is asked for", async () => {
    const agent = await openReporting([starts("bread"), "It runs."], OFF)
    const sizes: number[] = []
    agent.session.enableReports({
      async generator() {
        sizes.push((await agent.session.trajectory.unconsumed()).size)
        return "ready"
      },
    })
    await agent.session.send("bake")
    ;(await agent.gated.call(1)).finish("a loaf")
    await waitForReports(agent, 1)
    expect(sizes).toEqual([1])
  })

  test("001-11: once the conversation is idle, and after what was said first", async () => {
    const gate = createGate()
    const script = [starts("bread"), "It runs.", () => ({ gate: gate.pass(), text: "A word." }), "Another.", "Ready."]
    const agent = await openReporting(script)
    const { session } = agent
    await session.send("bake")
    const first = session.send("a word")
    const second = session.send("another")
    await gate.reached
    ;(await agent.gated.call(1)).finish("a loaf")
    await waitForEnds(agent, await tasksOf(agent))
    gate.open()
    await Promise.all([first, second])
    await session.reported()
    // The message in between told the result, so it is not reported again.
    expect(reportsOf(agent)).toEqual([])
    expect(lastSaid(agent.model, 3)).toMatch(/\| a loaf\n\[End of the notices\.\]\n\nanother$/)
  })

  test("001-12: to whoever listens, as text and as a report", async () => {
    const agent = await openReporting([starts("bread"), "It runs.", "The bread is ready."])
    await agent.session.send("bake")
    ;(await agent.gated.call(1)).finish("a loaf")
    await waitForReports(agent, 1)
    const types = agent.events.map(({ type }) => type)
    const begin = types.indexOf("report.started")
    expect(types.slice(begin, begin + 2)).toEqual(["report.started", "agent.status_changed"])
    const said = eventsOf(agent, "agent.output").filter(({ source }) => source === "model")
    expect(said.at(-1)?.text).toBe("The bread is ready.")
    expect(types.lastIndexOf("report.published")).toBeGreaterThan(types.lastIndexOf("agent.output"))
  })

  test("001-50: of a group when all of it has ended", async () => {
    const agent = await openGrouping([spawns(["north", "south"], { group: "walls" }), "They run.", "Both stand."])
    await agent.session.send("build")
    ;(await agent.gated.call(1)).finish("up")
    await waitForEnds(agent, (await tasksOf(agent)).slice(0, 1))
    await agent.session.reported()
    expect(reportsOf(agent)).toEqual([])
    ;(await agent.gated.call(2)).finish("up")
    expect(await waitForReports(agent, 1)).toEqual(["Both stand."])
  })

  test("001-51: appended, unless a group says otherwise", async () => {
    const agent = await openGrouping([spawns(["north"], { group: "walls" }), "It runs."])
    await agent.session.send("build")
    const [group] = await agent.runtime.tasks.groups.list({ session: agent.session.id })
    expect(group?.merge).toBe("append")
    ;(await agent.gated.call(1)).finish("up")
  })

  test("001-42: groups and single tasks through one reporter, one after the other", async () => {
    const script = [spawns(["north"], { group: "walls" }), starts("bread"), "They run."]
    const agent = await openGrouping(script, OFF)
    const subjects: string[] = []
    let running = 0
    await agent.session.send("build and bake")
    await agent.gated.call(2)
    for (const { finish } of agent.gated.calls) finish("done")
    await waitForEnds(agent, await tasksOf(agent))
    agent.session.enableReports({
      async generator({ subject }) {
        running += 1
        subjects.push(`${running} ${subject.startsWith("group_") ? "group" : "task"}`)
        await Promise.resolve()
        running -= 1
        return subject
      },
    })
    await waitForReports(agent, 2)
    expect(subjects).toEqual(["1 group", "1 task"])
  })
})

describe("hops", () => {
  test("001-08: are two, or as many as the configuration says", async () => {
    const again = { calls: [{ tool: "gated", input: { name: "again" } }] }
    const agent = await openReporting([starts("one"), "It runs.", again, "No more."], { reports: { maxHops: 1 } })
    await agent.session.send("begin")
    ;(await agent.gated.call(1)).finish("done")
    expect(await waitForReports(agent, 1)).toEqual(["No more."])
    expect(resultsOf(agent.session.history()).at(-1)?.isError).toBe(true)
  })

  test("001-33: are counted down; at none nothing is started and nothing is reported", async () => {
    const remaining: number[] = []
    const agent = await openReporting([starts("one"), "It runs."], OFF)
    agent.session.enableReports({
      async generator({ hopsRemaining }) {
        remaining.push(hopsRemaining)
        return "told"
      },
    })
    await agent.session.send("begin")
    ;(await agent.gated.call(1)).finish("done")
    await waitForReports(agent, 1)
    const { id: session } = agent.session
    for (const hops of [1, 2]) {
      await agent.runtime.tasks.start({ tool: "gated", input: {}, session, hops: Math.min(hops, 1) })
      ;(await agent.gated.call(hops + 1)).finish("done")
      await waitForReports(agent, hops + 1)
    }
    expect(remaining).toEqual([1, 0, 0])
    await expect(agent.runtime.tasks.start({ tool: "gated", input: {}, session, hops: 2 })).rejects.toMatchObject({
      code: "limit_exceeded",
    })
  })
})

test("a task that says so comes with the next turn, or not at all", async () => {
  const agent = await openReporting(["Hello.", "I see."], {})
  const { session, runtime, gated } = agent
  await session.send("hello")
  await runtime.tasks.start({ tool: "gated", input: { name: "later" }, session: session.id, notify: "next_turn" })
  await runtime.tasks.start({ tool: "gated", input: { name: "quiet" }, session: session.id, notify: "silent" })
  await gated.call(2)
  for (const { input, finish } of gated.calls) finish(`${input.name} done`)
  await waitForEnds(agent, await tasksOf(agent))
  await session.reported()
  expect([agent.model.callCount, notificationsOf(agent)]).toEqual([1, []])
  await session.send("well?")
  expect(lastSaid(agent.model, -1)).toContain("later done")
  expect(lastSaid(agent.model, -1)).not.toContain("quiet done")
  await eventually("the silent one is kept", async () => (await session.trajectory.unconsumed()).size === 1)
})
