import { trace } from "@opentelemetry/api"
import { expect, test } from "vitest"
import { openAgent } from "../support/session/open-agent.ts"
import { recordSpans } from "../support/session/spans.ts"
import { child } from "../support/session/traced-turn.ts"

test("a turn is below the span in which it was asked for", async () => {
  const spans = recordSpans({ hasContext: true })
  const { session, runtime } = await openAgent(["hello"], { isKept: true })
  const { turn } = await trace.getTracer("own").startActiveSpan("request", async (span) => {
    const sent = await session.send("Hello.")
    span.end()
    return sent
  })
  expect(spans.tree()).toEqual(["request", "  invoke_agent main", "    chat model"])
  const { traceId } = spans.find("request").spanContext()
  expect(turn && (await runtime.engine.store.task(turn))).toMatchObject({ traceId })
})

test("a turn goes on with the trace that is named, and not with another active one", async () => {
  const spans = recordSpans({ hasContext: true })
  const { session } = await openAgent(["hello"])
  const traceId = "0af7651916cd43dd8448eb211c80319c"
  await trace.getTracer("own").startActiveSpan("request", async (span) => {
    await session.send("Hello.", { traceId })
    span.end()
  })
  expect(spans.find("invoke_agent main").spanContext().traceId).toBe(traceId)
  expect(spans.find("chat model").spanContext().traceId).toBe(traceId)
  expect(spans.find("request").spanContext().traceId).not.toBe(traceId)
})

test("without a tracer, tasks of one turn share a trace id, and those of another turn do not", async () => {
  const { runtime, session } = await openAgent(
    [{ calls: [{ tool: "child" }, { tool: "child" }] }, "one", { calls: [{ tool: "child" }] }, "two"],
    { isKept: true, tools: [child] },
  )
  await session.send("First.")
  await session.send("Second.")
  const { items } = await runtime.tasks.list({ kinds: ["tool"] })
  const [third, second, first] = items.map(({ traceId }) => traceId)
  expect(first).toMatch(/^[0-9a-f]{32}$/)
  expect(second).toBe(first)
  expect(third).not.toBe(first)
})
