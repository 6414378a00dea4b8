import { SpanKind, SpanStatusCode, trace } from "@opentelemetry/api"
import { describe, expect, test } from "vitest"
import { z } from "zod"
import { defineTool } from "../../src/plugin/tool.ts"
import { DEFAULT_WORKSPACE } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { createGate } from "./support/gate.ts"
import { openAgent, PLACES } from "./support/open-agent.ts"
import { recordSpans } from "./support/spans.ts"
import { add, fail } from "./support/test-tools.ts"

/** Of the turn below and all that it leads to. */
const SPANS = 17
const SECRET_WORDS = "the prompt nobody may export"

const delegate = defineTool({
  name: "delegate",
  description: "Hands the work down.",
  kind: "agent",
  input: z.object({}),
  async run(_, { sessions }) {
    const child = await sessions.createChild({ name: "helper" })
    return (await child.send(SECRET_WORDS)).text
  },
})

/** Goes to the background at once and starts a child of its own there. */
function createSlow() {
  const gate = createGate()
  const slow = defineTool({
    name: "slow",
    description: "Takes long.",
    background: { mode: "after", ms: 1 },
    input: z.object({}),
    async run(_, { tasks }) {
      await gate.pass()
      await tasks.start({ tool: "child", input: {} })
      return SECRET_WORDS
    },
  })
  return { gate, slow }
}

const child = defineTool({
  name: "child",
  description: "A task below a task.",
  background: { mode: "always" },
  input: z.object({}),
  run: async () => "ended",
})

const script = () => [
  { error: { code: "rate_limited", message: SECRET_WORDS, retryAfterMs: 1 } } as const,
  { calls: [{ tool: "add", input: { a: 1, b: 2 } }, { tool: "slow" }, { tool: "fail" }] },
  { calls: [{ tool: "delegate" }, { tool: "made_up" }] },
  { text: "from below", usage: { cachedInputTokens: 4, reasoningTokens: 2 } },
  "done",
]

async function takeTurn(isKept: boolean) {
  const { gate, slow } = createSlow()
  const agent = await openAgent(script(), { isKept, tools: [add, fail, slow, delegate, child] })
  const { turn } = await agent.session.send(SECRET_WORDS)
  const { store } = agent.runtime.engine
  gate.open()
  const tasks = await eventually("the tasks end", async () => {
    const { items } = await agent.runtime.tasks.list({ kinds: ["tool"], statuses: ["completed"] })
    return items.length === 2 && items
  })
  return { ...agent, turn, store, tasks }
}

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
    if (turn) expect(await store.task(turn)).toMatchObject({ traceId })
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

test("a trace that is named is gone on with, and one of another trace is not taken for it", async () => {
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

test("with nobody who traces, tasks of one turn share a trace and those of another do not", async () => {
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

function rejectOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true })
  })
}
