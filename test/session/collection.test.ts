import { describe, expect, test } from "vitest"
import { z } from "zod"
import { createTruncateGc } from "../../src/builtin/gc/gc-plugin.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import type { GcPlugin } from "../../src/plugin/gc-plugin.ts"
import { textOf } from "../../src/plugin/message.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"
import { openAgent, PLACES, resultsOf } from "../support/session/open-agent.ts"
import { add } from "../support/session/test-tools.ts"

const overflow = { error: { code: "context_overflow", message: "The context is full." } } as const

/** About 100 tokens: enough to make a collection worth while. */
const LONG = "word ".repeat(80).trim()

/** A plugin that keeps only the last message, and remembers what it was asked. */
function createForgetfulGc(isDue = false) {
  const asked: unknown[] = []
  const plugin: GcPlugin = definePlugin({
    kind: "gc",
    name: "forgetful",
    shouldCollect(usage, config) {
      asked.push({ shouldCollect: config.thresholdPercent, percentUsed: usage.percentUsed })
      return isDue ? { isDue, reason: "the plugin says so" } : { isDue }
    },
    collect(messages, _usage, config, reason) {
      asked.push({ collect: reason, thresholdPercent: config.thresholdPercent })
      return { messages: messages.slice(-1), removedMessages: messages.length - 1, summary: "Forgot the rest." }
    },
  })
  return { plugin, asked }
}

describe.each(PLACES)("collecting the context, %s", (_, isKept) => {
  test("happens once when the model says that it is full, and the turn goes on", async () => {
    const { plugin, asked } = createForgetfulGc()
    const { session, model, events } = await openAgent(["one", overflow, "two"], { isKept })
    session.setGc(plugin)
    await session.send("first")
    expect((await session.send("second")).text).toBe("two")
    expect(model.requests.map(({ messages }) => messages.map(textOf))).toEqual([
      ["first"],
      ["first", "one", "second"],
      ["second"],
    ])
    expect(asked).toContainEqual({ collect: "the model says that the context is full", thresholdPercent: 75 })
    expect(events.filter(({ type }) => type === "context.collected")).toMatchObject([{ removedMessages: 2 }])
  })

  test("uses a collection that only shortens messages, and removes none", async () => {
    const short = { role: "user", parts: [{ type: "text", text: "fir" }] } as const
    const plugin: GcPlugin = definePlugin({
      kind: "gc",
      name: "brief",
      shouldCollect: () => ({ isDue: false }),
      collect: ([_first, ...rest]) => ({ messages: [short, ...rest], removedMessages: 0, summary: "Shortened one." }),
    })
    const { session, model, events } = await openAgent(["one", overflow, "two"], { isKept })
    session.setGc(plugin)
    await session.send("first")
    expect((await session.send("second")).text).toBe("two")
    expect(model.requests.at(-1)?.messages.map(textOf)).toEqual(["fir", "one", "second"])
    expect(events.filter(({ type }) => type === "context.collected")).toMatchObject([{ removedMessages: 0 }])
  })

  test("voids the output that was heard before the model said that it is full", async () => {
    const { session, events } = await openAgent(["one", { text: ["I am sa"], ...overflow }, "two"], { isKept })
    session.setGc(createForgetfulGc().plugin)
    await session.send("first")
    await session.send("second")
    const types = events.flatMap(({ type }) => (type.startsWith("content") ? [type] : []))
    expect(types).toEqual(["content.delta", "content.delta", "content.reset", "content.delta"])
  })

  test("fails the turn with the model's own words when it is still full after that", async () => {
    const { session, model } = await openAgent(["one", overflow, overflow, "three"], { isKept })
    session.setGc(createForgetfulGc().plugin)
    await session.send("first")
    await expect(session.send("second")).rejects.toMatchObject({ code: "context_overflow" })
    expect(model.callCount).toBe(3)
    expect((await session.send("third")).text).toBe("three")
  })

  test("makes room when the model says that it is full, although it is far from full by what is known", async () => {
    const gc = { strategy: "truncate" } as const
    const { session, model } = await openAgent(["1", "2", "3", "4", "5", overflow, "six"], { isKept, gc })
    for (const number of [1, 2, 3, 4, 5]) await session.send(`${number} ${LONG}`)
    expect(session.contextUsage().percentUsed).toBeLessThan(1)
    expect((await session.send("6")).text).toBe("six")
    const [full = [], collected = []] = model.requests.slice(-2).map(({ messages }) => messages)
    expect(collected.length).toBeLessThan(full.length)
    expect(findHistoryProblems(session.history())).toEqual([])
  })

  test("shortens the only long message when the model says that it is full, and there is nothing else to drop", async () => {
    const gc = { strategy: "truncate" } as const
    const huge = defineTool({
      name: "huge",
      description: "Tells much.",
      input: z.object({}),
      run: async () => "word ".repeat(5_000),
    })
    const { session, model } = await openAgent([{ calls: [{ tool: "huge" }] }, overflow, "fine"], {
      isKept,
      gc,
      tools: [huge],
    })
    expect((await session.send("go")).text).toBe("fine")
    const [full = 0, collected = 0] = model.requests.slice(-2).map(({ messages }) => JSON.stringify(messages).length)
    expect(collected).toBeLessThan(full)
  })

  test("004-23: the plugin is asked with usage and config, and told the reason it gave", async () => {
    const { plugin, asked } = createForgetfulGc(true)
    const { session, model } = await openAgent(["one", "two"], { isKept })
    await session.send("first")
    session.setGc(plugin, { thresholdPercent: 60 })
    await session.send("second")
    expect(asked).toEqual([
      { shouldCollect: 60, percentUsed: expect.any(Number) },
      { collect: "the plugin says so", thresholdPercent: 60 },
    ])
    expect(model.requests[1]?.messages.map(textOf)).toEqual(["second"])
  })

  test("004-24: is due at 75 percent unless the person says otherwise", async () => {
    const scripted = { contextLimitTokens: 1_000, usage: tokens(740) }
    const gc = { strategy: "truncate", keepRecentTurns: 1 } as const
    const script = [LONG, { text: LONG, usage: { inputTokens: 760 } }, "three"]
    const { session, events } = await openAgent(script, { isKept, scripted, gc })
    const collected = () => events.filter(({ type }) => type === "context.collected").length
    await session.send("first")
    await session.send("x")
    expect(collected()).toBe(0)
    await session.send("y")
    expect(collected()).toBe(1)
  })

  test("is done when it is asked for before it is due, and says what it did", async () => {
    const scripted = { contextLimitTokens: 1_000, usage: tokens(600) }
    const { session } = await openAgent([`one ${LONG}`, LONG, LONG], { isKept, scripted, gc: { strategy: "none" } })
    for (const message of [LONG, LONG, LONG]) await session.send(message)
    expect(await session.collect()).toBe("There was nothing to collect.")
    session.setGc(createTruncateGc({ keepRecentTurns: 1 }))
    expect(await session.collect()).not.toBe("There was nothing to collect.")
    expect(session.history().map(textOf)).not.toContain(`one ${LONG}`)
    expect(findHistoryProblems(session.history())).toEqual([])
  })

  test("by a plugin that separates calls from results keeps or drops both", async () => {
    const cutting: GcPlugin = { ...createForgetfulGc(true).plugin, collect: (messages) => cut(messages.slice(2)) }
    const cut = (messages: Parameters<GcPlugin["collect"]>[0]) => ({ messages, removedMessages: 2, summary: "Cut." })
    const call = { tool: "add", input: { a: 1, b: 2 } }
    const { session, model } = await openAgent([{ calls: [call] }, "one", "two"], { isKept, tools: [add] })
    await session.send("first")
    session.setGc(cutting)
    await session.send("second")
    expect(resultsOf(model.requests[2]?.messages ?? [])).toEqual([])
    expect(model.requests[2]?.messages.map(textOf)).toContain("second")
  })

  test("by a plugin that throws costs nobody the turn", async () => {
    const broken: GcPlugin = {
      ...createForgetfulGc(true).plugin,
      collect: () => {
        throw new Error("broken")
      },
    }
    const { session } = await openAgent(["one"], { isKept })
    session.setGc(broken)
    expect((await session.send("first")).text).toBe("one")
  })
})

function tokens(inputTokens: number) {
  return { inputTokens, cachedInputTokens: 0, outputTokens: 1, reasoningTokens: 0 }
}
