import { expect, test } from "vitest"
import type { AgentEvent } from "../../plugin/agent-event.ts"
import { silentLog } from "../../runner/redaction/redacting-log.ts"
import { createSessionId, createTaskId, DEFAULT_WORKSPACE } from "../../task/id.ts"
import { createAgentEmitter, createAgentEvents, type NumberedTurn } from "./agent-emitter.ts"

const AGENT = { id: createSessionId(), workspace: DEFAULT_WORKSPACE, turn: () => null }

function createPair() {
  const above = createAgentEvents(silentLog)
  return { above, emitter: createAgentEmitter(AGENT, () => above, silentLog) }
}

function fail(): void {
  throw new Error("broken")
}

test("a listener for output hears output and nothing else", () => {
  const { emitter } = createPair()
  const heard: AgentEvent["type"][] = []
  const unsubscribe = emitter.onOutput(({ type }) => heard.push(type))
  emitter.emit({ type: "agent.status_changed", status: "active" })
  emitter.emit({ type: "content.delta", source: "model", text: "a" })
  emitter.emit({ type: "content.reset", reason: "again" })
  emitter.emit({ type: "agent.output", source: "model", text: "a", mode: "write" })
  unsubscribe()
  emitter.emit({ type: "content.delta", source: "model", text: "b" })
  expect(heard).toEqual(["content.delta", "content.reset", "agent.output"])
})

test("an event is heard when anybody listens for it, here or above", () => {
  const { above, emitter } = createPair()
  expect(emitter.hears("agent.output")).toBe(false)
  const stopOutput = emitter.onOutput(() => undefined)
  expect([emitter.hears("agent.output"), emitter.hears("tool_call.started")]).toEqual([true, false])
  const stopAll = above.on(() => undefined)
  expect(emitter.hears("tool_call.started")).toBe(true)
  stopOutput()
  stopAll()
  expect(emitter.hears("agent.output")).toBe(false)
})

test("events of a turn name it and are numbered in it, and others are of none", () => {
  const above = createAgentEvents(silentLog)
  const first = { id: createTaskId(), sequence: 0 }
  let turn: NumberedTurn | null = null
  const emitter = createAgentEmitter({ ...AGENT, turn: () => turn }, () => above, silentLog)
  const places: unknown[] = []
  emitter.on(({ turn: id, sequence }) => places.push([id, sequence]))
  emitter.emit({ type: "agent.created", name: "main", parent: null, model: "a/b" })
  emitter.emit({ type: "agent.output", source: "system", text: "before", mode: "write" })
  turn = { id: null, sequence: 0 }
  emitter.emit({ type: "agent.status_changed", status: "active" })
  turn = first
  emitter.emit({ type: "agent.status_changed", status: "active" })
  emitter.emit({ type: "notification.shown", text: "beside it", taskIds: [] })
  emitter.emit({ type: "agent.status_changed", status: "done" })
  const none = [undefined, undefined]
  expect(places).toEqual([none, none, none, [first.id, 1], none, [first.id, 2]])
})

test.each([
  ["throws", fail],
  ["returns a promise that rejects", async () => fail()],
])("a listener that %s is logged, and the others hear the event", async (_, listener) => {
  const warnings: unknown[] = []
  const above = createAgentEvents({ ...silentLog, warn: (...warning) => warnings.push(warning) })
  const heard: AgentEvent["type"][] = []
  above.on(listener)
  above.on(({ type }) => heard.push(type))
  createAgentEmitter(AGENT, () => above, silentLog).emit({ type: "agent.status_changed", status: "active" })
  await expect.poll(() => warnings.length).toBe(1)
  expect(warnings).toEqual([["a listener failed", { event: "agent.status_changed", error: "broken" }]])
  expect(heard).toEqual(["agent.status_changed"])
})
