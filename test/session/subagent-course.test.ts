import { join } from "node:path"
import { expect, test } from "vitest"
import { z } from "zod"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { AgentEvent } from "../../src/plugin/agent-event.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { DEFAULT_WORKSPACE } from "../../src/task/id.ts"
import { LIVE_STATUSES } from "../../src/task/lifecycle.ts"
import { eventually } from "../support/eventually.ts"
import { createFolder } from "../support/workplace.ts"
import { answersIn, openSubagents, requestsOf, spawn, toldTo } from "../support/session/open-subagents.ts"

for (const isKept of [true, false]) {
  const where = isKept ? "kept" : "in memory"

  test(`a slow subagent moves to the background, and its answer comes with the next message (${where})`, async () => {
    const clock = createManualClock()
    const gate = Promise.withResolvers<void>()
    const { runtime, provider, session } = await openSubagents({
      isKept,
      clock,
      main: [spawn("Work."), "It works.", "It has worked."],
      below: [{ gate: gate.promise, text: "Worked at last." }],
    })
    const sent = session.send("Go.")
    await eventually("the subagent works", () => requestsOf(provider, "below").length === 1)
    clock.advance(10_000)
    await sent
    const { items } = await runtime.tasks.list({ kinds: ["agent"] })
    expect(items).toMatchObject([{ status: "running", title: "worker: Work.", session: session.id }])
    expect(toldTo(session)[0]).toContain(`in the background as task ${items[0]?.id}`)
    gate.resolve()
    const { task } = await runtime.tasks.result(items[0]?.id ?? "", { waitMs: 60_000 })
    expect(task).toMatchObject({
      status: "completed",
      usage: { tokens: 15 },
      patch: { payload: { answer: "Worked at last." } },
    })
    const [entry] = runtime.ledger.entries({ task: task.id })
    expect(entry).toMatchObject({ model: "script/below", task: task.id })
    await session.send("And?")
    expect(JSON.stringify(requestsOf(provider, "main")[2]?.messages.at(-1))).toContain("Worked at last.")
  })

  test(`a subagent is woken by what it started, and its parent gets the answer only then (${where})`, async () => {
    const gate = Promise.withResolvers<void>()
    const slow = defineTool({
      name: "slow",
      description: "Takes its time.",
      input: z.object({}),
      background: { mode: "always" },
      run: async () => gate.promise.then(() => "the slow result"),
    })
    const { provider, session } = await openSubagents({
      isKept,
      tools: [slow],
      main: [spawn("Work."), "Done."],
      below: [
        { calls: [{ tool: "slow" }] },
        () => {
          queueMicrotask(gate.resolve)
          return "I wait for it."
        },
        "Here it is.",
      ],
    })
    await session.send("Go.")
    expect(answersIn(session)).toMatchObject([{ answer: "Here it is.", usage: { inputTokens: 30 } }])
    expect(JSON.stringify(requestsOf(provider, "below")[2]?.messages.at(-1))).toContain("the slow result")
  })
}

test("cancelling the task of a subagent stops the subagent", async () => {
  const clock = createManualClock()
  const { runtime, provider, session } = await openSubagents({
    clock,
    main: [spawn("Work."), "It works."],
    below: [{ gate: new Promise(() => {}) }],
  })
  const sent = session.send("Go.")
  await eventually("the subagent works", () => requestsOf(provider, "below").length === 1)
  clock.advance(10_000)
  await sent
  const [spawned] = (await runtime.tasks.list({ kinds: ["agent"] })).items
  await runtime.tasks.cancel(spawned?.id ?? "", { reason: "not needed" })
  const { task } = await runtime.tasks.result(spawned?.id ?? "", { waitMs: 60_000 })
  expect(task).toMatchObject({ status: "cancelled", stop: { reason: "not needed" } })
  const turns = (await runtime.tasks.list({ kinds: ["turn"] })).items.filter((turn) => turn.session !== session.id)
  expect(turns).toMatchObject([{ status: "cancelled", stop: { by: "parent", parent: task.id } }])
})

for (const standing of ["foreground", "background"] as const) {
  test(`a subagent that a shutdown cut off goes on at the next start, and no second one is made (${standing})`, async () => {
    const dataDirectory = join(createFolder(), "data")
    const clock = createManualClock()
    const below = [{ gate: new Promise(() => {}) }]
    const first = await openSubagents({ dataDirectory, clock, main: [spawn("Work."), "It works."], below })
    const sent = first.session.send("Go.").catch(() => {})
    await eventually("the subagent works", () => requestsOf(first.provider, "below").length === 1)
    if (standing === "background") {
      clock.advance(10_000)
      await sent
    }
    await first.runtime.close()
    const between = await openSubagents({ dataDirectory, clock: createManualClock(clock.now()), main: [], below })
    await eventually("the subagent goes on", () => requestsOf(between.provider, "below").length === 1)
    await between.runtime.openSession(first.session.id)
    await between.runtime.close()
    const gate = Promise.withResolvers<void>()
    const second = await openSubagents({
      dataDirectory,
      main: ["Done.", "Thanks."],
      below: [{ gate: gate.promise, text: "Worked." }],
    })
    const parent = await second.runtime.openSession(first.session.id)
    const heard: AgentEvent[] = []
    parent.on((event) => heard.push(event))
    gate.resolve()
    const live = async () => (await second.runtime.tasks.list({ statuses: LIVE_STATUSES })).items
    await eventually("everything has ended", async () => (await live()).length === 0)
    if (standing === "background") await parent.send("And?")
    expect(JSON.stringify(requestsOf(second.provider, "main")[0]?.messages)).toContain("Worked.")
    const { items } = await second.runtime.engine.store.sessions({ workspace: DEFAULT_WORKSPACE }, { limit: 10 })
    const others = items.map(({ id }) => id).filter((id) => id !== parent.id)
    expect((await second.runtime.sessions.list()).items).toMatchObject([{ id: parent.id }])
    expect(others).toHaveLength(1)
    expect(heard).toContainEqual(expect.objectContaining({ type: "turn.completed", agent: others[0] }))
  })
}
