import { expect, test } from "vitest"
import type { AgentEvent } from "../format/agent-event.ts"
import { createHeldEvents } from "./held-events.ts"

const toEvent = (event: object): AgentEvent => event as AgentEvent
const said = (delta: string): AgentEvent => toEvent({ type: "content.delta", delta })
const report = (...ids: string[]): AgentEvent => toEvent({ type: "report.started", tasks: ids.map((id) => ({ id })) })

function open(early: readonly AgentEvent[] = []) {
  const shown: unknown[] = []
  const untold = new Set<string>()
  const telling = Promise.withResolvers<void>()
  const held = createHeldEvents({
    show: (event) => void shown.push("delta" in event ? event.delta : event.type),
    tellEnds: (ids) => (ids.some((id) => untold.has(id)) ? telling.promise : undefined),
    early,
  })
  return { shown, untold, telling, held }
}

test("events from before the greeting are shown after it, and later events as they come", () => {
  const { shown, held } = open([said("early")])
  held.take(said("before"))
  expect(shown).toEqual([])
  held.release()
  held.take(report("told"))
  held.take(said("after"))
  expect(shown).toEqual(["early", "before", "report.started", "after"])
})

test.for(["told", "failed to be told"])("a report waits until the ends of its tasks are %s", async (how) => {
  const { shown, untold, telling, held } = open()
  untold.add("task")
  held.release()
  held.take(said("before"))
  held.take(report("told", "task"))
  held.take(said("the report"))
  expect(shown).toEqual(["before"])
  const all = held.allShown().then(() => [...shown])
  if (how === "told") telling.resolve()
  else telling.reject(new Error("the store is away"))
  expect(await all).toEqual(["before", "report.started", "the report"])
})
