import { SpanKind, SpanStatusCode } from "@opentelemetry/api"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { defineTool } from "../../src/plugin/tool.ts"
import { DEFAULT_WORKSPACE } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { createGate } from "../support/session/gate.ts"
import { openAgent, PLACES } from "../support/session/open-agent.ts"
import { recordSpans } from "../support/session/spans.ts"
import { SECRET_WORDS, SPANS, takeTurn } from "../support/session/traced-turn.ts"

describe.each(PLACES)("a turn as spans, %s", (_, isKept) => {
  test("model calls, tools, runs and a subagent are below the turn that asked for them", async () => {
    const spans = recordSpans({ hasContext: true })
    await takeTurn(isKept)
    await eventually("every span ends", () => spans.all().length === SPANS)
    expect(spans.tree()).toEqual([
      "invoke_agent main",
      "  chat model",
      "  chat model",
      "  chat model",
      "  chat model",
      "  execute_tool",
      "  execute_tool add",
      "    run_task add",
      "  execute_tool delegate",
      "    run_task delegate",
      "      invoke_agent helper",
      "        chat model",
      "  execute_tool fail",
      "    run_task fail",
      "  execute_tool slow",
      "    run_task slow",
      "      run_task child",
    ])
    expect(new Set(spans.all().map((span) => span.spanContext().traceId)).size).toBe(1)
  })

  test("the trace is on the turn, on tasks and their children, and on their notices", async () => {
    const spans = recordSpans({ hasContext: true })
    const { turn, store, tasks } = await takeTurn(isKept)
    const { traceId } = spans.find("invoke_agent main").spanContext()
    expect(tasks.map((task) => task.tool).toSorted()).toEqual(["child", "slow"])
    expect(tasks.map((task) => task.traceId)).toEqual([traceId, traceId])
    const notices = await store.notices({ workspace: DEFAULT_WORKSPACE }, 10)
    expect(notices.map((notice) => notice.traceId)).toEqual([traceId, traceId])
    if (isKept) expect(await store.task(turn)).toMatchObject({ traceId })
  })

  test("without a context manager all of it is still in one trace", async () => {
    const spans = recordSpans({ hasContext: false })
    const { store } = await takeTurn(isKept)
    await eventually("every span ends", () => spans.all().length === SPANS)
    const { traceId } = spans.find("invoke_agent main").spanContext()
    expect(new Set(spans.all().map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]))
    const notices = await store.notices({ workspace: DEFAULT_WORKSPACE }, 10)
    expect(notices.map((notice) => notice.traceId)).toEqual([traceId, traceId])
    expect(spans.find("invoke_agent main").parentSpanContext).toBeUndefined()
  })
})

test("what is asked of a model is said as the GenAI conventions say it", async () => {
  const spans = recordSpans({ hasContext: true })
  const { session } = await takeTurn(true)
  const chats = spans.all().filter(({ name }) => name === "chat model")
  const request = {
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "scripted",
    "gen_ai.request.model": "model",
    "gen_ai.conversation.id": session.id,
  }
  expect(chats.map(({ kind }) => kind)).toEqual(chats.map(() => SpanKind.CLIENT))
  expect(chats[0]?.attributes).toEqual({ ...request, "error.type": "rate_limited" })
  expect(chats[0]?.status).toEqual({ code: SpanStatusCode.ERROR })
  expect(chats[1]?.attributes).toEqual({
    ...request,
    "gen_ai.usage.input_tokens": 10,
    "gen_ai.usage.cache_read.input_tokens": 0,
    "gen_ai.usage.output_tokens": 5,
    "gen_ai.usage.reasoning.output_tokens": 0,
    "gen_ai.response.finish_reasons": ["calls"],
  })
  expect(chats.at(-2)?.attributes).toMatchObject({
    "gen_ai.usage.cache_read.input_tokens": 4,
    "gen_ai.usage.reasoning.output_tokens": 2,
  })
})

test("agents, tools and runs say who they are and how they ended", async () => {
  const spans = recordSpans({ hasContext: true })
  const { session, turn, tasks } = await takeTurn(true)
  await eventually("every span ends", () => spans.all().length === SPANS)
  expect(spans.find("invoke_agent main").attributes).toMatchObject({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": "main",
    "gen_ai.agent.id": session.id,
    "gen_ai.provider.name": "scripted",
    "gen_ai.usage.input_tokens": 30,
    "meanwhile.task.id": turn,
  })
  expect(spans.find("invoke_agent main")).toMatchObject({ kind: SpanKind.INTERNAL })
  expect(spans.find("execute_tool fail")).toMatchObject({
    kind: SpanKind.INTERNAL,
    status: { code: SpanStatusCode.ERROR },
    attributes: { "gen_ai.tool.name": "fail", "gen_ai.tool.type": "function", "error.type": "tool_error" },
  })
  expect(spans.find("execute_tool").attributes).toMatchObject({ "error.type": "unknown_tool" })
  const slow = tasks.find(({ tool }) => tool === "slow")
  expect(spans.find("execute_tool slow").attributes).toMatchObject({ "meanwhile.task.id": slow?.id })
  expect(spans.find("run_task slow").attributes).toEqual({
    "meanwhile.task.id": slow?.id,
    "meanwhile.task.run": 1,
    "meanwhile.task.kind": "tool",
    "meanwhile.plugin.name": "test",
    "gen_ai.tool.name": "slow",
    "gen_ai.conversation.id": session.id,
    "meanwhile.task.status": "completed",
    "meanwhile.task.promoted": true,
  })
  expect(spans.find("run_task add").attributes).toMatchObject({
    "meanwhile.task.status": "completed",
    "meanwhile.task.promoted": false,
  })
  expect(spans.find("run_task fail")).toMatchObject({
    status: { code: SpanStatusCode.ERROR },
    attributes: { "meanwhile.task.status": "failed", "error.type": "tool_error" },
  })
})

test("no span quotes what was said, asked for or handed back, nor a name that the model made up", async () => {
  const spans = recordSpans({ hasContext: true })
  await takeTurn(true)
  await eventually("every span ends", () => spans.all().length === SPANS)
  const told = spans
    .all()
    .map(({ name, attributes, status, events }) => JSON.stringify({ name, attributes, status, events }))
  for (const words of [SECRET_WORDS, "made_up", "from below", "the wheel came off"]) {
    expect(told.filter((text) => text.includes(words))).toEqual([])
  }
})

test("a turn that is stopped, and what was stopped with it, has not failed", async () => {
  const spans = recordSpans({ hasContext: true })
  const gate = createGate()
  const hold = defineTool({
    name: "hold",
    description: "Holds.",
    input: z.object({}),
    run: (_, { signal }) => Promise.race([gate.pass().then(() => null), rejectOn(signal)]),
  })
  const { session } = await openAgent([{ calls: [{ tool: "hold" }] }, "never"], { isKept: true, tools: [hold] })
  const sent = session.send("Hold.")
  await gate.reached
  session.stop()
  expect((await sent).outcome).toBe("stopped")
  const names = ["invoke_agent main", "execute_tool hold", "run_task hold"]
  for (const name of names) expect(spans.find(name).status).toEqual({ code: SpanStatusCode.UNSET })
  expect(spans.find("run_task hold").attributes).toMatchObject({ "meanwhile.task.status": "cancelled" })
})

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true })
  })
}
