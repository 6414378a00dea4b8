import { describe, expect, test } from "vitest"
import { z } from "zod"
import { createScriptedProvider } from "../../src/builtin/scripted/scripted-provider.ts"
import type { AgentEvent } from "../../src/plugin/agent-event.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { ToolContext } from "../../src/plugin/context.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { eventually } from "../support/eventually.ts"
import { createGate } from "../support/session/gate.ts"
import { openAgent, PLACES, typesOf } from "../support/session/open-agent.ts"
import { add, fail } from "../support/session/test-tools.ts"

const call = { tool: "add", input: { a: 1, b: 2 } }

function ofType<Type extends AgentEvent["type"]>(events: readonly AgentEvent[], type: Type) {
  return events.filter((event): event is Extract<AgentEvent, { type: Type }> => event.type === type)
}

describe.each(PLACES)("what is heard of an agent, %s", (_, isKept) => {
  test("comes in the order in which it happens, each with the agent it is about", async () => {
    const { session, events } = await openAgent([{ calls: [call] }, "Three."], { isKept, tools: [add] })
    await session.send("go")
    await session.close()
    expect(typesOf(events)).toEqual([
      "agent.created",
      "agent.status_changed",
      "tool_call.started",
      "tool_call.ended",
      "content.delta",
      "agent.output",
      "turn.completed",
      "context.updated",
      "history.updated",
      "agent.status_changed",
      "agent.completed",
    ])
    expect(new Set(events.map(({ agent }) => agent))).toEqual(new Set([session.id]))
  })

  test("004-65: its status is active while it works, done after a turn or a stop, and error after a failure", async () => {
    const script = ["one", { error: { code: "model_refused", message: "No." } } as const, "three"]
    const { session, events } = await openAgent(script, { isKept })
    await session.send("a")
    await session.send("b").catch(() => {})
    await session.send("c")
    const statuses = ofType(events, "agent.status_changed").map(({ status, reason }) => [status, reason])
    expect(statuses).toEqual([
      ["active", undefined],
      ["done", undefined],
      ["active", undefined],
      ["error", "No."],
      ["active", undefined],
      ["done", undefined],
    ])
  })

  test("004-66: the end of a call says whether it went well, how long it took and what came of it", async () => {
    const calls = [
      { ...call, id: "well" },
      { tool: "fail", id: "badly" },
    ]
    const { session, events } = await openAgent([{ calls }, "done"], { isKept, tools: [add, fail] })
    await session.send("go")
    expect(ofType(events, "tool_call.started").map(({ callId, tool, input }) => [callId, tool, input])).toEqual([
      ["well", "add", { a: 1, b: 2 }],
      ["badly", "fail", {}],
    ])
    const ended = ofType(events, "tool_call.ended")
    const told = ended.map(({ callId, isSuccess, summary }) => [callId, isSuccess, summary])
    expect(told).toHaveLength(2)
    expect(told).toContainEqual(["badly", false, "the wheel came off"])
    expect(told).toContainEqual(["well", true, '{"sum":3}'])
    for (const { durationMs } of ended) expect(durationMs).toBeGreaterThanOrEqual(0)
  })

  test("004-71: each turn is told with its account, which adds up to the session's", async () => {
    const { session, events } = await openAgent(["one", "two"], { isKept })
    await session.send("a")
    await session.send("b")
    const accounts = ofType(events, "turn.completed").map(({ accounting }) => accounting)
    expect(accounts).toEqual(session.turns())
    expect(accounts.map(({ modelCalls, usage }) => [modelCalls, usage.inputTokens])).toEqual([
      [1, 10],
      [1, 10],
    ])
  })

  test("004-69: what each agent says is told with its own id, so that a screen keeps them apart", async () => {
    const { runtime, session, events } = await openAgent(["from one", "from two"], { isKept })
    const other = await runtime.createSession({ name: "second" })
    const heardByOther: AgentEvent[] = []
    other.on((event) => heardByOther.push(event))
    await session.send("a")
    await other.send("b")
    expect(ofType(events, "agent.output").map(({ agent, text }) => [agent, text])).toEqual([
      [session.id, "from one"],
      [other.id, "from two"],
    ])
    expect(new Set(heardByOther.map(({ agent }) => agent))).toEqual(new Set([other.id]))
  })

  test("004-67: what a child session does is heard at its parent and at the runtime, with the child's id", async () => {
    const { session, events } = await openAgent([{ calls: [{ tool: "delegate" }] }, "I am the child.", "done"], {
      isKept,
      plugins: [delegating],
    })
    const heard: AgentEvent[] = []
    session.on((event) => heard.push(event))
    await session.send("go")
    const [child] = ofType(heard, "agent.created")
    expect(child).toMatchObject({ name: "helper", parent: session.id })
    const said = ofType(heard, "agent.output").map(({ agent, text }) => [agent, text])
    expect(said).toEqual([
      [child?.agent, "I am the child."],
      [session.id, "done"],
    ])
    expect(ofType(events, "agent.output")).toHaveLength(2)
  })

  test("004-75: the end of a child in the background is heard, and so is that of the task it runs as", async () => {
    const gate = createGate()
    const other = createScriptedProvider("other", { child: [() => ({ gate: gate.pass(), text: "Baked." })] })
    const { session, events } = await openAgent([{ calls: [{ tool: "delegate_later" }] }, "It runs."], {
      isKept,
      plugins: [other, delegating],
    })
    await session.send("go")
    const taskId = ofType(events, "tool_call.ended")[0]?.taskId
    const child = await eventually("the child is made", () => ofType(events, "agent.created")[1])
    expect(ofType(events, "agent.completed")).toEqual([])
    gate.open()
    await eventually("the child ends", () =>
      ofType(events, "agent.completed").some(({ agent }) => agent === child.agent),
    )
    const isEnd = ({ event, agent }: Extract<AgentEvent, { type: "task.changed" }>): boolean =>
      event.taskId === taskId && event.body.type === "task.completed" && agent === session.id
    await eventually("the task ends", () => ofType(events, "task.changed").some(isEnd))
  })

  test("by a listener that throws costs nobody the turn, and the others still hear", async () => {
    const { session, events } = await openAgent(["one"], { isKept })
    session.on(() => {
      throw new Error("broken")
    })
    const onOutput = () => {
      throw new Error("broken too")
    }
    expect((await session.send("a", { onOutput })).text).toBe("one")
    expect(typesOf(events)).toContain("turn.completed")
  })

  test("is no longer told to a listener that was removed", async () => {
    const { session } = await openAgent(["one", "two"], { isKept })
    const heard: string[] = []
    const takeOff = session.on(({ type }) => heard.push(type))
    await session.send("a")
    const count = heard.length
    takeOff()
    await session.send("b")
    expect([count > 0, heard.length]).toEqual([true, count])
  })
})

const delegate = defineTool({
  name: "delegate",
  description: "Lets another do it.",
  input: z.object({}),
  run: (_input, context) => askChild(context, "scripted/model"),
})

const delegating = definePlugin({
  kind: "tool",
  name: "delegating",
  tools: [
    delegate,
    {
      ...delegate,
      name: "delegate_later",
      background: { mode: "always" },
      run: (_input, context) => askChild(context, "other/child"),
    },
  ],
})

async function askChild({ sessions }: ToolContext, model: string): Promise<string> {
  const child = await sessions.createChild({ name: "helper", model })
  const { text } = await child.send("do it")
  await child.close()
  return text
}
