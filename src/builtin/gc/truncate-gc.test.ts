import { describe, expect, it } from "vitest"
import { type Message, textOf, userMessage } from "../../plugin/message.ts"
import { leadOf } from "./lead.ts"
import { createTruncateGc } from "./gc-plugin.ts"
import {
  CONFIG,
  sum,
  toUsage,
  createContext,
  collect,
  say,
  call,
  talk,
  expectPairs,
} from "../../../test/support/builtin/gc.ts"

describe("truncating", () => {
  it("drops the oldest turns, as many as needed, and puts one note in their place", async () => {
    const messages = talk(20)
    const { messages: kept, removedMessages, summary } = await collect(createTruncateGc(), messages, 2_000)
    expect(textOf(kept[0] ?? say(""))).toMatch(/^\[Earlier messages were removed/)
    expect(kept[0]?.role).toBe("user")
    expect(kept.slice(1)).toEqual(messages.slice(removedMessages))
    expect(sum(kept)).toBeLessThanOrEqual(1_000)
    expect(sum(kept)).toBeGreaterThan(800)
    expect(summary).toMatch(/^Removed \d+ messages; about [\d,]+ tokens became [\d,]+\.$/)
  })

  it("has one note after any number of collections", async () => {
    let messages: readonly Message[] = talk(20)
    for (let round = 0; round < 5; round++) {
      messages = [...(await collect(createTruncateGc(), messages, 2_000)).messages, ...talk(10)]
    }
    expect(messages.filter(leadOf)).toHaveLength(1)
  })

  it("keeps the first turn in front of the note when it is asked to", async () => {
    const messages = talk(20)
    const { messages: kept } = await collect(createTruncateGc({ keepFirstTurn: true }), messages, 2_000)
    expect(kept.slice(0, 2)).toEqual(messages.slice(0, 2))
    expect(kept.findIndex((message) => leadOf(message))).toBe(2)
  })

  it("leaves a conversation below the target as it is", async () => {
    const messages = talk(3)
    const collection = await collect(createTruncateGc(), messages, 100_000)
    expect(collection.messages).toBe(messages)
    expect(collection.removedMessages).toBe(0)
  })

  it("shortens old results inside the turns that stay before it removes calls", async () => {
    const messages = [userMessage("go"), ...call("a", "x".repeat(9_000)), ...call("b", "short"), ...call("c", "short")]
    const { messages: kept, removedMessages } = await collect(createTruncateGc(), messages, 3_000)
    expect(removedMessages).toBe(0)
    expect(kept).toHaveLength(messages.length)
    expect(JSON.stringify(kept[2])).toContain("9,000 characters were shortened here")
    expect(kept.slice(3)).toEqual(messages.slice(3))
  })

  it("removes the older calls with their results from one turn that alone is too long", async () => {
    const calls = Array.from({ length: 60 }, (_, index) => call(`call-${index}`, "y".repeat(400))).flat()
    const messages = [userMessage("do all of it"), ...calls]
    const { messages: kept } = await collect(createTruncateGc(), messages, 4_000)
    expect(sum(kept)).toBeLessThanOrEqual(2_000)
    expect(kept[1]).toEqual(messages[0])
    expect(kept.slice(-2)).toEqual(messages.slice(-2))
    expectPairs(kept)
  })

  it("shortens a result that alone is too long, and leaves the last question as it is", async () => {
    const messages = [userMessage("read it"), ...call("a", `begin ${"z".repeat(400_000)} end`)]
    const { messages: kept } = await collect(createTruncateGc(), messages, 8_000)
    expect(sum(kept)).toBeLessThanOrEqual(4_000)
    expect(kept[0]).toEqual(messages[0])
    expect(JSON.stringify(kept.at(-1))).toMatch(/begin z.*z end/)
  })

  it("makes more room when the provider counts more than the estimate", async () => {
    const messages = talk(20)
    const usage = { ...toUsage(messages, 4_000), usedTokens: 2 * sum(messages) }
    const { messages: kept } = await createTruncateGc().collect(messages, usage, CONFIG, "", createContext().context)
    expect(sum(kept)).toBeLessThanOrEqual(1_000)
  })

  it("does not take a message that only reads like its note for one", async () => {
    const { messages: once } = await collect(createTruncateGc(), talk(20), 2_000)
    const imitation = userMessage(textOf(once[0] ?? say("")))
    const { messages: kept } = await collect(createTruncateGc(), [...once, ...talk(10), imitation], 2_000)
    expect(kept.at(-1)).toEqual(imitation)
  })
})
