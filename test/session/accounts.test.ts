import { describe, expect, test } from "vitest"
import { z } from "zod"
import { createScriptedProvider } from "../../src/builtin/scripted/scripted-provider.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { defineTool, showModel } from "../../src/plugin/tool.ts"
import { createTaskId } from "../../src/task/id.ts"
import type { Permission } from "../../src/runner/admit/permission.ts"
import { createTokenLedger } from "../../src/session/ledger/ledger.ts"
import { openAgent, PLACES } from "../support/session/open-agent.ts"
import { add, say } from "../support/session/test-tools.ts"

const call = { tool: "add", input: { a: 1, b: 2 } }
const usage = { inputTokens: 1_000, cachedInputTokens: 400, outputTokens: 50, reasoningTokens: 20 }
const models = { "scripted/*": { price: { input: 2, cachedInput: 1, output: 10 } } }
const delegate = defineTool({
  name: "delegate",
  description: "Lets another do it.",
  input: z.object({}),
  async run(_input, { sessions }) {
    const child = await sessions.createChild({ name: "helper" })
    return (await child.send("do it")).text
  },
})
/** 600 × 2 + 400 × 1 + 50 × 10 millionths. */
const COST = 2_100

describe.each(PLACES)("the accounts, %s", (_, isKept) => {
  test("004-11: a turn says what it used: calls, tokens of every sort, money and time", async () => {
    const { session, runtime } = await openAgent([{ calls: [call] }, "Three."], {
      isKept,
      tools: [add],
      models,
      scripted: { usage },
    })
    const { accounting } = await session.send("go")
    expect(accounting).toMatchObject({
      outcome: "completed",
      model: "scripted/model",
      modelCalls: 2,
      toolCalls: 1,
      usage: { inputTokens: 2_000, cachedInputTokens: 800, outputTokens: 100, reasoningTokens: 40 },
      costMicros: 2 * COST,
    })
    expect(accounting.durationMs).toBeGreaterThan(0)
    expect((await runtime.tasks.list({ kinds: ["turn"] })).items.map(({ id }) => id)).toEqual(
      isKept ? [accounting.turn] : [],
    )
    expect(session.turns()).toEqual([accounting])
  })

  test("004-74: the ledger has every call by turn, session and model, and hands them out as lines", async () => {
    const ledger = createTokenLedger()
    const other = createScriptedProvider("other", { free: ["hm", "hm"] }, { usage })
    const options = { isKept, tools: [add], models, scripted: { usage }, ledger, plugins: [other] }
    const { session, runtime } = await openAgent([{ calls: [call] }, "Three."], options)
    const second = await runtime.createSession({ model: "other/free" })
    const { turn } = await session.send("go")
    await second.send("hello")
    expect(runtime.ledger).toBe(ledger)
    expect(ledger.total()).toMatchObject({ calls: 3, costMicros: 2 * COST, hasUnknownCost: true })
    expect(ledger.total({ session: session.id })).toMatchObject({ calls: 2, hasUnknownCost: false })
    expect([...ledger.totals("model").keys()].toSorted()).toEqual(["other/free", "scripted/model"])
    expect(ledger.totals("session").get(second.id)).toMatchObject({ calls: 1, usage })
    expect(ledger.total({ turn })).toMatchObject({ calls: 2, costMicros: 2 * COST })
    const lines = ledger
      .toJsonl()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown)
    expect(lines).toMatchObject([
      { session: session.id, turn, model: "scripted/model", usage, costMicros: COST, purpose: "turn" },
      { session: session.id, turn, model: "scripted/model" },
      { session: second.id, model: "other/free", costMicros: null },
    ])
  })

  test("what a plugin asks of the model is in the ledger as its own", async () => {
    const asking = {
      ...say,
      name: "ask",
      run: async (_: unknown, { model }: Parameters<typeof say.run>[1]) => {
        await model.generate({ messages: [{ role: "user", parts: [{ type: "text", text: "hm?" }] }] })
        return null
      },
    }
    const script = [{ calls: [{ tool: "ask", input: { text: "" } }] }, "for the tool", "done"]
    const { session, runtime } = await openAgent(script, { isKept, tools: [asking] })
    await session.send("go")
    expect(runtime.ledger.entries().map(({ purpose }) => purpose)).toEqual(["turn", "helper", "turn"])
  })

  test("what a child session uses is in the ledger under the task of the call that made it", async () => {
    const script = [{ calls: [{ tool: "delegate" }] }, "from the child", "done"]
    const { session, runtime } = await openAgent(script, { isKept, tools: [delegate] })
    await session.send("go")
    const [entry] = runtime.ledger.entries().filter(({ task }) => task !== null)
    expect(entry?.session).not.toBe(session.id)
    expect(runtime.ledger.totals("task").size).toBe(1)
    expect(runtime.ledger.total({ task: entry?.task ?? createTaskId() })).toMatchObject({
      calls: 1,
      usage: { inputTokens: 10 },
    })
    expect(runtime.ledger.total({ session: session.id }).calls).toBe(2)
  })

  test("the context is what the provider last counted plus an estimate of what came after", async () => {
    const scripted = { contextLimitTokens: 10_000, usage: { ...usage, inputTokens: 4_000, outputTokens: 1_000 } }
    const { session } = await openAgent(["one", "two"], { isKept, scripted })
    await session.send("go")
    expect(session.contextUsage()).toEqual({ usedTokens: 5_000, limitTokens: 10_000, percentUsed: 50, turns: 1 })
    await session.reset()
    expect(session.contextUsage().usedTokens).toBeLessThan(50)
  })

  test("a reset never makes the context larger than the provider last counted, and counts turns anew", async () => {
    const wordy = { ...say, description: "word ".repeat(400) }
    const scripted = { usage: { ...usage, inputTokens: 90, outputTokens: 10 } }
    const { session } = await openAgent(["one", "two", "three"], { isKept, tools: [wordy], scripted })
    await session.send("go")
    await session.send("go on")
    await session.reset()
    const { usedTokens, turns } = session.contextUsage()
    expect([usedTokens > 0, usedTokens < 100, turns]).toEqual([true, true, 0])
    await session.send("again")
    expect(session.contextUsage().turns).toBe(1)
  })
})

test("the context counts the tools that the model is told of before anybody has counted", async () => {
  const wordy = { ...say, description: "word ".repeat(400) }
  const { session: bare } = await openAgent([])
  const { session } = await openAgent([], { tools: [wordy] })
  expect(session.contextUsage().usedTokens - bare.contextUsage().usedTokens).toBeGreaterThan(400)
})

test("004-06: the runtime has the providers, the plugins, the permission and the ledger that its sessions share", async () => {
  const shown = definePlugin({
    kind: "tool",
    name: "shown",
    tools: [{ ...say, name: "see", run: async () => showModel([{ type: "text", text: "seen" }], "seen") }],
  })
  const decided: string[] = []
  const permissions: Permission = {
    decide({ tool }) {
      decided.push(tool)
      return { allowed: true }
    },
  }
  const script = [
    { calls: [{ tool: "see", input: { text: "" } }] },
    "one",
    { calls: [{ tool: "see", input: { text: "" } }] },
    "two",
  ]
  const { runtime, session } = await openAgent(script, { plugins: [shown], permissions })
  const other = await runtime.createSession()
  await session.send("a")
  await other.send("b")
  expect(decided).toEqual(["see", "see"])
  expect(runtime.ledger.totals("session").size).toBe(2)
  expect(runtime.plugins.findTool("see").plugin).toBe("shown")
  expect((await runtime.connect("scripted/model")).id).toBe("scripted/model")
  await expect(runtime.connect("nobody/model")).rejects.toMatchObject({ code: "unknown_model" })
})

test("the record of a turn has what all its calls used, the last one too", async () => {
  const { session, runtime } = await openAgent([{ calls: [call] }, "Three."], {
    isKept: true,
    tools: [add],
    models,
    scripted: { usage },
  })
  const { turn } = await session.send("go")
  const task = turn && (await runtime.engine.store.task(turn))
  expect(task && task.usage).toEqual({ tokens: 2 * 1_050, costMicros: 2 * COST })
})
