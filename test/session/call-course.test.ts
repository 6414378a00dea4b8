import { describe, expect, test } from "vitest"
import { z } from "zod"
import { defineTool } from "../../src/plugin/tool.ts"
import { eventually } from "../support/eventually.ts"
import { openAgent, PLACES } from "../support/session/open-agent.ts"
import { add } from "../support/session/test-tools.ts"

describe.each(PLACES)("between the start and the end of a call, %s", (_, isKept) => {
  test("how far it is is told as the newest of what the tool says", async () => {
    const gate = Promise.withResolvers<void>()
    const copy = defineTool({
      name: "copy",
      description: "Copies.",
      input: z.strictObject({}),
      async run(_input, context) {
        context.progress({ done: 1, total: 4 })
        context.progress({ done: 2, phase: "copying" })
        await gate.promise
        return null
      },
    })
    const script = [{ calls: [{ tool: "copy", id: "one" }] }, "Done."]
    const { session, events } = await openAgent(script, { isKept, tools: [copy] })
    const sent = session.send("go")
    const told = await eventually("progress is told", () => events.find(({ type }) => type === "tool_call.progressed"))
    expect(told).toMatchObject({ callId: "one", progress: { done: 2, total: 4, phase: "copying" } })
    gate.resolve()
    await sent
  })

  test("that a person is asked, and said yes, is told only when they are", async () => {
    const asked = Promise.withResolvers<void>()
    const permissions = { decide: ({ tool }: { tool: string }) => (tool === "add" ? decide() : ALLOWED) }
    async function decide() {
      await asked.promise
      return ALLOWED
    }
    const script = [{ calls: [{ tool: "add", id: "one", input: { a: 1, b: 2 } }] }, "Three."]
    const { session, events } = await openAgent(script, { isKept, tools: [add], permissions })
    const sent = session.send("go")
    const ofCall = () => events.flatMap(({ type }) => (type.startsWith("tool_call.") ? [type] : []))
    await eventually("the person is asked", () => ofCall().includes("tool_call.asked"))
    expect(ofCall()).toEqual(["tool_call.started", "tool_call.asked"])
    asked.resolve()
    await sent
    expect(ofCall()).toEqual(["tool_call.started", "tool_call.asked", "tool_call.allowed", "tool_call.ended"])
    expect(events.find(({ type }) => type === "tool_call.ended")).toMatchObject({ isRefused: false })
  })

  test("a call that is not allowed ends as refused", async () => {
    const permissions = { decide: () => ({ allowed: false, reason: "not today" }) as const }
    const script = [{ calls: [{ tool: "add", input: { a: 1, b: 2 } }] }, "I may not."]
    const { session, events } = await openAgent(script, { isKept, tools: [add], permissions })
    await session.send("go")
    expect(events.find(({ type }) => type === "tool_call.ended")).toMatchObject({
      isSuccess: false,
      isRefused: true,
      summary: "add was not allowed: not today",
    })
  })
})

const ALLOWED = { allowed: true } as const
