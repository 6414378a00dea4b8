import { describe, expect, it } from "vitest"
import { textOf, userMessage } from "../../plugin/message.ts"
import { createHybridGc } from "./gc-plugin.ts"
import { leadOf } from "./lead.ts"
import { createContext, collect, say, call, talk } from "../../../test/support/builtin/gc.ts"

describe("the generations of hybrid", () => {
  it("keeps the recent, summarises the middle and drops the oldest", async () => {
    const messages = talk(30)
    const { context, requests } = createContext(() => "The middle.")
    const plugin = createHybridGc({ keepRecentTurns: 3, middleTurns: 5 })
    const { messages: kept, summary } = await collect(plugin, messages, 4_000, { context })
    expect(textOf(kept[0] ?? say(""))).toContain("[Older messages were removed without a summary.]\nThe middle.")
    expect(kept.slice(1)).toEqual(messages.slice(-6))
    expect(requests[0]).toContain("question 22 ")
    expect(requests[0]).not.toContain("question 21 ")
    expect(summary).toMatch(/^Summarised 10 messages and removed 44 older ones;/)
  })

  it("merges earlier summaries into the new one", async () => {
    const first = await collect(createHybridGc(), talk(20), 4_000, {
      context: createContext(() => "Their name is Ada.").context,
    })
    const { context, requests } = createContext((request) => (request.includes("Ada") ? "Ada asked more." : "Lost."))
    const { messages } = await collect(createHybridGc(), [...first.messages, ...talk(20)], 4_000, { context })
    expect(requests[0]).toContain('{"earlierSummary":"Their name is Ada."}')
    expect(messages.filter(leadOf)).toHaveLength(1)
    expect(textOf(messages[0] ?? say(""))).toContain("Ada asked more.")
  })

  it("summarises the calls that had to leave a turn that goes on", async () => {
    const calls = Array.from({ length: 60 }, (_, index) => call(`call-${index}`, "y".repeat(400))).flat()
    const { context, requests } = createContext(() => "Many files were read.")
    const { messages } = await collect(createHybridGc(), [userMessage("do it"), ...calls], 8_000, { context })
    expect(requests.join("\n")).toContain("call-0")
    expect(textOf(messages[0] ?? say(""))).toContain("Many files were read.")
    expect(textOf(messages[1] ?? say(""))).toBe("do it")
  })
})
