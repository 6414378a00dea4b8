import { expect, test } from "vitest"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import type { AgentEvent } from "../../src/plugin/agent-event.ts"
import type { ModelRequest } from "../../src/plugin/model.ts"
import type { SessionId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { answersIn, openSubagents, requestsOf, resultsIn, spawn, toldTo } from "../support/session/open-subagents.ts"

const USED = { inputTokens: 10, cachedInputTokens: 0, outputTokens: 5, reasoningTokens: 0 }

for (const isKept of [true, false]) {
  const where = isKept ? "kept" : "in memory"

  test(`a subagent gets the task and the context alone, and its last text comes back (${where})`, async () => {
    const main = [spawn("Count the files.", { context: "They lie in /tmp." }), "There are 3."]
    const { provider, session } = await openSubagents({ isKept, main, below: ["3 files."] })
    const { text } = await session.send("A secret plan. How many files are there?")
    expect(text).toBe("There are 3.")
    const [asked] = requestsOf(provider, "below")
    expect(asked?.messages).toHaveLength(1)
    expect(JSON.stringify(asked?.messages)).toContain("Count the files.")
    expect(JSON.stringify(asked?.messages)).toContain("They lie in /tmp.")
    expect(JSON.stringify(asked?.messages)).not.toContain("secret plan")
    expect(asked?.system).toContain("Work hard.")
    expect(answersIn(session)).toEqual([{ answer: "3 files.", session: expect.any(String), usage: USED }])
  })

  test(`what happens in a subagent reaches the listeners of its parent and of the runtime in order (${where})`, async () => {
    const { runtime, session } = await openSubagents({ isKept, main: [spawn("Work."), "Done."], below: ["Worked."] })
    const here: AgentEvent[] = []
    const everywhere: AgentEvent[] = []
    session.on((event) => here.push(event))
    runtime.on((event) => everywhere.push(event))
    await session.send("Go.")
    expect(everywhere).toEqual(here)
    const below = here.filter(({ agent }) => agent !== session.id)
    const life = below.filter(({ type }) => type.startsWith("agent.") || type === "turn.completed")
    expect(life.map((event) => ("status" in event ? event.status : event.type))).toEqual([
      "agent.created",
      "active",
      "agent.output",
      "turn.completed",
      "done",
      "agent.completed",
    ])
    expect(below[0]).toMatchObject({ name: "worker", parent: session.id, model: "script/below" })
    expect(new Set(below.map(({ agent }) => agent)).size).toBe(1)
    const ended = here.findIndex(({ type }) => type === "tool_call.ended")
    expect(here.findIndex(({ type }) => type === "agent.completed")).toBeLessThan(ended)
  })

  test(`several subagents work at once, and each call gets its own answer (${where})`, async () => {
    const all = Promise.withResolvers<void>()
    let working = 0
    const work = (request: ModelRequest): ScriptStep => {
      working += 1
      if (working === 3) all.resolve()
      return { gate: all.promise, text: `did ${/part \d/.exec(JSON.stringify(request.messages))?.[0]}` }
    }
    const toCall = (part: number) => ({
      tool: "spawn_subagent",
      input: { task: `part ${part}`, profile: "worker" },
    })
    const main = [{ calls: [1, 2, 3].map(toCall) }, "All done."]
    const { runtime, session } = await openSubagents({ isKept, main, below: [work, work, work] })
    await session.send("Go.")
    expect(answersIn(session).map(({ answer }) => answer)).toEqual(["did part 1", "did part 2", "did part 3"])
    expect(runtime.ledger.totals("session").size).toBe(4)
  })

  test(`a subagent that fails is a tool error with its own message (${where})`, async () => {
    const below: ScriptStep[] = [{ error: { code: "key_refused", message: "The key is not valid." } }]
    const { runtime, session } = await openSubagents({ isKept, main: [spawn("Work."), "It failed."], below })
    const events: AgentEvent[] = []
    runtime.on((event) => events.push(event))
    await session.send("Go.")
    expect(resultsIn(session.history())).toMatchObject([{ isError: true }])
    expect(toldTo(session)[0]).toContain("The subagent worker failed: The key is not valid.")
    const ends = events.filter(({ agent, type }) => agent !== session.id && type.startsWith("agent."))
    expect(ends.slice(-2)).toMatchObject([{ status: "error" }, { type: "agent.completed" }])
  })

  test(`stopping the parent's turn stops the subagent's (${where})`, async () => {
    const below = [{ gate: new Promise(() => {}), text: "late" }]
    const { runtime, session } = await openSubagents({ isKept, main: [spawn("Work.")], below })
    const events: AgentEvent[] = []
    runtime.on((event) => events.push(event))
    const isBelow = ({ agent }: AgentEvent): boolean => agent !== session.id
    const sent = session.send("Go.")
    await eventually("the subagent works", () =>
      events.some((event) => isBelow(event) && event.type === "agent.status_changed"),
    )
    session.stop("that is enough")
    expect(await sent).toMatchObject({ outcome: "stopped" })
    await eventually("the subagent is closed", () =>
      events.some((event) => isBelow(event) && event.type === "agent.completed"),
    )
    const turn = events.find((event) => isBelow(event) && event.type === "turn.completed")
    expect(turn).toMatchObject({ accounting: { outcome: "stopped" } })
  })

  test(`the ledger knows a subagent's calls by its session, its turn and the call that asked (${where})`, async () => {
    const { runtime, session } = await openSubagents({ isKept, main: [spawn("Work."), "Done."], below: ["Worked."] })
    await session.send("Go.")
    const [child] = answersIn(session)
    const [entry] = runtime.ledger.entries({ session: child?.session as SessionId })
    expect(entry).toMatchObject({ model: "script/below", usage: USED, task: expect.any(String) })
    expect(entry?.turn).toMatch(/^[0-9a-f-]{36}$/)
    if (entry?.task) expect(runtime.ledger.total({ task: entry.task })).toMatchObject({ calls: 1, usage: USED })
  })
}
