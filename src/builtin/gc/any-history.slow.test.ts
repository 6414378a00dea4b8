import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Message, textOf, userMessage } from "../../plugin/message.ts"
import { leadOf } from "./lead.ts"
import { assertProperty } from "../../../test/support/assert-property.ts"
import { CONFIG, sum, toUsage, collect, say, call, PLUGINS, expectPairs } from "../../../test/support/builtin/gc.ts"

const text = fc.integer({ min: 0, max: 3_000 }).map((length) => "lorem ipsum ".repeat(length / 12))
const file = fc.constant({ type: "file", mediaType: "image/png", source: { data: "A".repeat(600) } } as const)
const result = fc.record({ text, files: fc.array(file, { maxLength: 1 }), isError: fc.boolean() })
const exchange = fc.record({
  reasoning: fc.option(text),
  said: fc.option(text),
  results: fc.array(result, { maxLength: 3 }),
  isSplit: fc.boolean(),
})
const turn = fc.record({
  asked: text,
  files: fc.array(file, { maxLength: 2 }),
  exchanges: fc.array(exchange, { maxLength: 6 }),
})
type Turn = typeof turn extends fc.Arbitrary<infer Value> ? Value : never

/**
 * Histories as they stand before a model call: parallel calls, results in one or in several messages, reasoning, files.
 */
const history = fc.array(turn, { minLength: 1, maxLength: 12 }).map((turns) => {
  let calls = 0
  const toMessages = ({ asked, files, exchanges }: Turn, index: number): Message[] => [
    userMessage(`#${index} ${asked}`, files),
    ...exchanges.flatMap(({ reasoning, said, results, isSplit }): Message[] => {
      const ids = results.map(() => `call-${calls++}`)
      const answers = results.map(({ text, files, isError }, at) => ({
        type: "result" as const,
        callId: ids[at] ?? "",
        tool: "read",
        isError,
        content: [{ type: "text" as const, text }, ...files],
      }))
      return [
        {
          role: "assistant",
          parts: [
            ...(reasoning === null ? [] : [{ type: "reasoning" as const, text: reasoning }]),
            { type: "text", text: said ?? "" },
            ...ids.map((id) => ({ type: "call" as const, id, tool: "read", input: { id } })),
          ],
        },
        ...(isSplit
          ? answers.map((answer): Message => ({ role: "tool", parts: [answer] }))
          : answers.length > 0
            ? [{ role: "tool" as const, parts: answers }]
            : []),
      ]
    }),
  ]
  return turns.flatMap(toMessages)
})

/** A part that shortening leaves alone: it identifies a message. */
function toIdentity(message: Message): string {
  if (message.role === "tool") return `tool ${message.parts.map(({ callId }) => callId).join()}`
  return message.role === "user" ? `user ${textOf(message).split(" ", 1).join()}` : JSON.stringify(message)
}

describe.each(Object.entries(PLUGINS))("whatever the history, %s", (_name, create) => {
  it("keeps a conversation of 200 turns with tools within the window, with one message for what is gone", async () => {
    const limitTokens = 8_000
    const plugin = create()
    let messages: readonly Message[] = []
    let collections = 0
    const make = async (more: readonly Message[]): Promise<void> => {
      messages = [...messages, ...more]
      const usage = toUsage(messages, limitTokens)
      expect(usage.percentUsed).toBeLessThan(100)
      if (!(await plugin.shouldCollect(usage, CONFIG)).isDue) return
      messages = (await collect(plugin, messages, limitTokens)).messages
      collections += 1
      expect(sum(messages)).toBeLessThanOrEqual(limitTokens / 2)
      expectPairs(messages)
    }
    for (let index = 0; index < 200; index++) {
      await make([userMessage(`question ${index}`)])
      for (let step = 0; step < index % 7; step++) await make(call(`${index}-${step}`, "r".repeat(900)))
      await make([say(`answer ${index}`)])
    }
    expect(collections).toBeGreaterThan(5)
    expect(messages.filter(leadOf)).toHaveLength(1)
  })

  it("keeps pairs, order, the last user message and the recent turns, fits where it can, and is idempotent", async () => {
    await assertProperty(
      fc.asyncProperty(
        history,
        fc.integer({ min: 400, max: 20_000 }),
        fc.boolean(),
        fc.integer({ min: 1, max: 5 }),
        async (messages, limitTokens, keepFirstTurn, keepRecentTurns) => {
          const plugin = create({ keepFirstTurn, keepRecentTurns })
          const { messages: kept, removedMessages } = await collect(plugin, messages, limitTokens)
          const rest = kept.filter((message) => !leadOf(message))
          expectPairs(kept)
          expect(kept[0]?.role).toBe("user")
          expect(kept.length - rest.length).toBeLessThanOrEqual(1)
          expect(rest).toHaveLength(messages.length - removedMessages)

          const wanted = rest.map(toIdentity)
          const inOrder = messages.map(toIdentity).filter((identity) => wanted.includes(identity))
          expect(new Set(wanted)).toEqual(new Set(inOrder))
          expect(wanted.filter((identity) => !identity.startsWith("{"))).toEqual(
            inOrder.filter((identity) => !identity.startsWith("{")),
          )

          const asked = messages.filter(({ role }) => role === "user")
          expect(rest.findLast(({ role }) => role === "user")).toEqual(asked.at(-1))
          const stays = [...(keepFirstTurn ? asked.slice(0, 1) : []), ...asked.slice(-keepRecentTurns)].map(toIdentity)
          expect(wanted).toEqual(expect.arrayContaining(stays))
          if (messages.at(-1)?.role === "tool") expect(kept.at(-1)?.role).toBe("tool")

          const config = { ...CONFIG, targetPercent: 0.001 }
          const least = await collect(plugin, messages, limitTokens, { config })
          expect(sum(kept)).toBeLessThanOrEqual(Math.max(limitTokens / 2, sum(least.messages)))

          const again = await collect(plugin, kept, limitTokens)
          expect(again.messages).toEqual(kept)
        },
      ),
      { numRuns: 150 },
    )
  })
})
