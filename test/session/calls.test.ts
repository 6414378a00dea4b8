import { describe, expect, test } from "vitest"
import { isTerminal } from "../../src/task/lifecycle.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { Permission } from "../../src/runner/admit/permission.ts"
import { createGatedTool } from "../support/tools.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"
import { openAgent, PLACES, resultsOf, resultText } from "../support/session/open-agent.ts"
import { add, fail, say } from "../support/session/test-tools.ts"

const denySay: Permission = {
  decide: ({ tool }) => (tool === "say" ? { allowed: false, reason: "the test says no" } : { allowed: true }),
}

describe.each(PLACES)("several calls in one answer, %s", (_, isKept) => {
  test("run at the same time, and their answers stand in the order of the calls", async () => {
    const gated = createGatedTool({ background: { mode: "never" } })
    const calls = ["a", "b", "c"].map((name) => ({ tool: "gated", input: { name }, id: name }))
    const { session } = await openAgent([{ calls }, "done"], { isKept, tools: [gated.tool] })
    const sent = session.send("go")
    // The third call begins before the first has ended.
    const third = await gated.call(3)
    third.finish("third")
    gated.calls[1]?.finish("second")
    gated.calls[0]?.finish("first")
    expect((await sent).text).toBe("done")
    expect(resultsOf(session.history()).map((result) => [result.callId, resultText(result)])).toEqual([
      ["a", "first"],
      ["b", "second"],
      ["c", "third"],
    ])
    expect(findHistoryProblems(session.history())).toEqual([])
  })

  test("get exactly one answer each: what throws, is refused, malformed, unknown, promoted or cancelled too", async () => {
    const clock = createManualClock()
    const slow = createGatedTool({ name: "slow", background: { mode: "after", ms: 1_000 } })
    const limited = createGatedTool({
      name: "limited",
      background: { mode: "never" },
      timeoutMs: 1_000,
      obeys: true,
    })
    const calls = [
      { tool: "add", input: { a: 1, b: 2 }, id: "well" },
      { tool: "fail", id: "throws" },
      { tool: "say", input: { text: "x" }, id: "refused" },
      { tool: "add", input: '{"a": 1, "b"', id: "malformed" },
      { tool: "ad", input: {}, id: "unknown" },
      { tool: "slow", id: "promoted" },
      { tool: "limited", id: "cancelled" },
    ]
    const tools = [add, fail, say, slow.tool, limited.tool]
    const { session, runtime, model } = await openAgent([{ calls }, "done"], {
      isKept,
      tools,
      clock,
      permissions: denySay,
    })
    const sent = session.send("go")
    await slow.call(1)
    await limited.call(1)
    clock.advance(1_000)
    await sent
    const results = resultsOf(session.history())
    expect(results.map(({ callId }) => callId)).toEqual(calls.map(({ id }) => id))
    const told = Object.fromEntries(results.map((result) => [result.callId, [result.isError, resultText(result)]]))
    expect(told).toEqual({
      well: [false, '{"sum":3}'],
      throws: [true, expect.stringContaining("the wheel came off")],
      refused: [true, expect.stringContaining("the test says no")],
      malformed: [true, expect.stringContaining("The arguments of add are not valid")],
      unknown: [true, expect.stringContaining("Did you mean add")],
      promoted: [false, expect.stringContaining("in the background as task")],
      cancelled: [true, expect.stringContaining("timed out")],
    })
    expect(findHistoryProblems(session.history())).toEqual([])
    expect(model.requests[1]?.messages.at(-1)).toEqual(session.history()[2])
    slow.calls[0]?.finish("late")
    const { items } = await runtime.tasks.list({ session: session.id, kinds: ["tool"] })
    expect(items).toHaveLength(1)
    const ended = await runtime.tasks.result(items[0]?.id ?? "", { waitMs: 60_000 })
    expect(isTerminal(ended.task.status)).toBe(true)
  })

  test("with the same id, or none, are told apart", async () => {
    const calls = [
      { tool: "say", input: { text: "one" }, id: "x" },
      { tool: "say", input: { text: "two" }, id: "x" },
      { tool: "say", input: { text: "three" }, id: "" },
    ]
    const { session } = await openAgent([{ calls }, "done"], { isKept, tools: [say] })
    await session.send("go")
    expect(resultsOf(session.history()).map(resultText)).toEqual(["one", "two", "three"])
    expect(findHistoryProblems(session.history())).toEqual([])
  })
})
