import { expect, test } from "vitest"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import type { AgentEvent } from "../../src/plugin/agent-event.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { openAgent, openScripted, PLACES } from "../support/session/open-agent.ts"

const START = { calls: [{ tool: "start_task", input: { tool: "gated", input: { name: "one" } } }] }

const changesIn = (events: readonly AgentEvent[]) =>
  events.flatMap((event) => (event.type === "task.changed" ? [event.event] : []))
const typesOf = (events: readonly AgentEvent[]) => changesIn(events).map(({ body }) => body.type)

test.each(PLACES)(
  "a task that the model starts is followed from its creation to its end, once (%s)",
  async (_, isKept) => {
    const gated = createGatedTool()
    const options = { isKept, tools: [gated.tool], plugins: [createBackgroundPlugin()] }
    const { session, events, runtime } = await openAgent([START, "Started."], options)
    await session.send("Go.")
    const ended = events.find((event) => event.type === "tool_call.ended")
    const [id] = ended?.type === "tool_call.ended" ? (ended.started ?? []) : []
    expect(ended).toMatchObject({ taskId: null })
    gated.calls[0]?.finish("done")
    await eventually("its end is told", () => typesOf(events).includes("task.completed"))
    expect(typesOf(events).slice(0, 2)).toEqual(["task.queued", "task.started"])
    expect(new Set(changesIn(events).map(({ taskId }) => taskId))).toEqual(new Set([id]))
    const sequences = changesIn(events).map(({ sequence }) => sequence)
    expect(new Set(sequences).size).toBe(sequences.length)
    await runtime.close()
  },
)

test("a task that a conversation has from before is followed when it is opened again", async () => {
  const gated = createGatedTool()
  const options = { isKept: true, tools: [gated.tool], plugins: [createBackgroundPlugin()] }
  const { session, folder } = await openAgent([START, "Started."], options)
  await session.send("Go.")
  await gated.call(1)
  const events: AgentEvent[] = []
  const there = await openScripted(createScriptedModel([]), {
    ...options,
    folder,
    onEvent: (event) => events.push(event),
  })
  const again = await there.runtime.openSession(session.id)
  gated.calls[0]?.finish("done")
  await eventually("its end is told", () => typesOf(events).includes("task.completed"))
  expect(typesOf(events)).not.toContain("task.queued")
  await again.close()
})

test("a task that is tried again is followed again", async () => {
  const gated = createGatedTool()
  const options = { isKept: true, tools: [gated.tool], plugins: [createBackgroundPlugin()] }
  const { session, events, runtime } = await openAgent([START, "Started."], options)
  await session.send("Go.")
  gated.calls[0]?.fail(new Error("no"))
  await eventually("its end is told", () => typesOf(events).includes("task.failed"))
  const { items } = await runtime.tasks.list({ kinds: ["tool"] })
  await runtime.tasks.retry(items[0]?.id ?? "")
  const again = await gated.call(2)
  again.finish("done")
  await eventually("its second end is told", () => typesOf(events).includes("task.completed"))
  const sequences = changesIn(events).map(({ sequence }) => sequence)
  expect(sequences).toEqual([...new Set(sequences)].toSorted((one, other) => one - other))
})
