import { describe, expect, test } from "vitest"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { PersonChannel } from "../../src/plugin/person-port.ts"
import type { Answer } from "../../src/plugin/task-service.ts"
import type { PendingCall, ToolHooks } from "../../src/plugin/tool-hooks.ts"
import { openAgent, PLACES, resultsOf, resultText } from "../support/session/open-agent.ts"
import { add, fail, say } from "../support/session/test-tools.ts"

const watchful = (hooks: ToolHooks) => definePlugin({ kind: "tool", name: "watchful", tools: [], ...hooks })
const calls = [
  { tool: "add", input: { a: 1, b: 2 } },
  { tool: "say", input: { text: "hi" } },
]

describe.each(PLACES)("a plugin that watches calls, %s", (_, isKept) => {
  test("refuses one before it runs, and the model is told why", async () => {
    const plugin = watchful({
      beforeToolCall: ({ tool }) =>
        tool === "say" ? { decision: "refuse", reason: "silence, please" } : { decision: "allow" },
    })
    const { session } = await openAgent([{ calls }, "done"], { isKept, tools: [add, say], plugins: [plugin] })
    await session.send("go")
    expect(resultsOf(session.history()).map((result) => [result.isError, resultText(result)])).toEqual([
      [false, '{"sum":3}'],
      [true, "say was not allowed: silence, please"],
    ])
  })

  test("changes the input of one, which is checked again", async () => {
    const inputs: Readonly<Record<string, unknown>> = { add: { a: 20, b: 2 }, say: { text: 7 } }
    const plugin = watchful({ beforeToolCall: ({ tool }) => ({ decision: "change", input: inputs[tool] }) })
    const { session } = await openAgent([{ calls }, "done"], { isKept, tools: [add, say], plugins: [plugin] })
    await session.send("go")
    const [first, second] = resultsOf(session.history())
    expect(resultText(first)).toBe('{"sum":22}')
    expect([second?.isError, resultText(second)]).toEqual([true, expect.stringContaining("not valid")])
  })

  test("sees each answer, of this session, and what it throws changes nothing", async () => {
    const seen: [PendingCall, Answer][] = []
    const plugin = watchful({
      afterToolCall(call, answer) {
        seen.push([call, answer])
        throw new Error("broken")
      },
    })
    const script = [{ calls: [...calls.slice(0, 1), { tool: "fail" }] }, "done"]
    const { session } = await openAgent(script, { isKept, tools: [add, fail], plugins: [plugin] })
    expect((await session.send("go")).text).toBe("done")
    const told = seen.map(([call, answer]) => [call.tool, call.session, answer.outcome])
    expect(told).toHaveLength(2)
    expect(told).toContainEqual(["add", session.id, "completed"])
    expect(told).toContainEqual(["fail", session.id, "failed"])
    expect(resultText(resultsOf(session.history())[0])).toBe('{"sum":3}')
  })

  test("and fails refuses the call", async () => {
    const plugin = watchful({
      beforeToolCall() {
        throw new Error("broken")
      },
    })
    const { session } = await openAgent([{ calls }, "done"], { isKept, tools: [add, say], plugins: [plugin] })
    await session.send("go")
    expect(resultsOf(session.history()).every(({ isError }) => isError)).toBe(true)
  })
})

test("tools that a plugin approves itself need no approval, and others with the same effect do", async () => {
  const asked: string[] = []
  const person: PersonChannel = {
    name: "test",
    async ask({ text }) {
      asked.push(text)
      return { isAnswered: true, value: "yes", by: "test" }
    },
  }
  const write = { ...say, effects: ["write"] as const }
  const plugin = definePlugin({
    kind: "tool",
    name: "notes",
    tools: [
      { ...write, name: "note" },
      { ...write, name: "overwrite" },
    ],
    autoApprovedTools: ["note"],
  })
  const both = ["note", "overwrite"].map((tool) => ({ tool, input: { text: "x" } }))
  const { session } = await openAgent([{ calls: both }, "done"], {
    plugins: [plugin],
    person,
    permissions: { rules: [] },
  })
  await session.send("go")
  expect(resultsOf(session.history()).map(({ isError }) => isError)).toEqual([false, false])
  expect(asked).toHaveLength(1)
  expect(asked[0]).toContain("overwrite")
})
