import { describe, expect, test } from "vitest"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"
import { openAgent, PLACES, resultsOf, resultText } from "../support/session/open-agent.ts"
import { add, say } from "../support/session/test-tools.ts"

const addOnce = { tool: "add", input: { a: 1, b: 1 } }

function* adding(): Generator<ScriptStep> {
  for (;;) yield { text: "Once more.", calls: [addOnce] }
}

describe.each(PLACES)("the turn loop, %s", (_, isKept) => {
  test("004-10: asks the model, runs what it calls and asks again, until there is text without calls", async () => {
    const script = [
      { text: "Let me add.", calls: [addOnce, { tool: "add", input: { a: 3, b: 4 } }] },
      { calls: [addOnce] },
    ]
    const { session, runtime, model } = await openAgent([...script, "2, 7 and 2."], { isKept, tools: [add] })
    const { text, outcome, accounting } = await session.send("Add.")
    expect([text, outcome]).toEqual(["2, 7 and 2.", "completed"])
    expect(accounting).toMatchObject({ modelCalls: 3, toolCalls: 3, usage: { inputTokens: 30, outputTokens: 15 } })
    const roles = ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    expect(session.history().map(({ role }) => role)).toEqual(roles)
    expect(resultsOf(session.history()).map(resultText)).toEqual(['{"sum":2}', '{"sum":7}', '{"sum":2}'])
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 3, 5])
    expect(model.requests[2]?.messages).toEqual(session.history().slice(0, 5))
    const stored = await runtime.sessions.load(session.id)
    expect(stored?.messages).toEqual(session.history())
  })

  test("the last model call that a turn may make is offered no tools", async () => {
    const script = [{ calls: [addOnce] }, { calls: [addOnce] }, "That is all I have."]
    const { session, model } = await openAgent(script, { isKept, tools: [add], agent: { maxStepsPerTurn: 3 } })
    expect((await session.send("go")).text).toBe("That is all I have.")
    expect(model.requests.map(({ tools }) => tools.length)).toEqual([1, 1, 0])
  })

  test("a model that calls tools it was not offered ends at the step limit all the same", async () => {
    const { session, model } = await openAgent(adding(), { isKept, tools: [add], agent: { maxStepsPerTurn: 3 } })
    const { text, accounting } = await session.send("go")
    expect(text).toBe("Once more.")
    expect(model.callCount).toBe(3)
    expect(accounting.toolCalls).toBe(2)
    expect(findHistoryProblems(session.history())).toEqual([])
  })

  test("an answer without anything in it becomes a message that every provider takes back", async () => {
    const { session } = await openAgent([{ text: "" }, { reasoning: "hm" }, "fine"], { isKept })
    await session.send("one")
    await session.send("two")
    expect((await session.send("three")).text).toBe("fine")
    expect(findHistoryProblems(session.history())).toEqual([])
  })

  test("a message without words or files is refused, and nothing is said", async () => {
    const { session, model } = await openAgent(["hello"], { isKept })
    await expect(session.send("  ")).rejects.toMatchObject({ code: "invalid_input" })
    expect([session.history(), model.callCount]).toEqual([[], 0])
    expect((await session.send("hi")).text).toBe("hello")
  })

  test("an answer cut off in the middle of a call fails with the setting to raise, and the next turn works", async () => {
    const { session } = await openAgent([{ calls: [addOnce], finish: "length" }, "fine"], { isKept, tools: [add] })
    await expect(session.send("go")).rejects.toThrow("agent.maxOutputTokens")
    expect((await session.send("again")).text).toBe("fine")
    expect(findHistoryProblems(session.history())).toEqual([])
  })

  test("a long tool result reaches the model with its head, its tail and what was left out", async () => {
    const text = `begin${"x".repeat(5_000)}end`
    const script = [{ calls: [{ tool: "say", input: { text } }] }, "done"]
    const agent = { toolResultLimitCharacters: 1_000 }
    const { session, model } = await openAgent(script, { isKept, tools: [say], agent })
    await session.send("go")
    const [result] = resultsOf(model.requests[1]?.messages ?? [])
    const shown = resultText(result)
    expect(shown).toMatch(/^begin.*characters left out.*end$/s)
    expect(shown.length).toBeLessThanOrEqual(1_000)
  })

  test("004-72: calls of the model and their results are always in the history", async () => {
    const { session } = await openAgent([{ calls: [addOnce] }, "done"], { isKept, tools: [add] })
    await session.send("go")
    const [, asked, answered] = session.history()
    expect(asked?.parts).toMatchObject([{ type: "call", tool: "add", input: { a: 1, b: 1 } }])
    expect(answered?.parts).toMatchObject([{ type: "result", tool: "add", isError: false }])
  })
})

test("deltas come before the text as a whole, and onOutput says who speaks and where a text begins", async () => {
  const { session, events } = await openAgent([{ reasoning: "hm", text: ["He", "llo"] }])
  const said: string[] = []
  await session.send("hi", { onOutput: (source, text, mode) => said.push(`${source} ${mode} ${text}`) })
  const spoken = events.flatMap((event) =>
    event.type === "content.delta" || event.type === "agent.output"
      ? [`${event.type} ${event.source} ${event.text}`]
      : [],
  )
  expect(spoken).toEqual([
    "content.delta reasoning hm",
    "content.delta model He",
    "content.delta model llo",
    "agent.output model Hello",
  ])
  expect(said).toEqual(["reasoning write hm", "model write He", "model append llo"])
})

test("004-05: onOutput hears source, text and mode of the model and of what tools print", async () => {
  const print = {
    ...say,
    name: "print",
    run: async (_: unknown, context: { output: { write(data: string): void } }) => {
      context.output.write("printed\n")
      return null
    },
  }
  const { session } = await openAgent([{ text: "I print.", calls: [{ tool: "print", input: { text: "" } }] }, "done"], {
    tools: [print],
  })
  const said: unknown[] = []
  await session.send("go", { onOutput: (...heard) => said.push(heard) })
  expect(said).toEqual([
    ["model", "I print.", "write"],
    ["tool", "printed\n", "write"],
    ["model", "done", "write"],
  ])
})

test("a message that fills the context by itself is refused before it is kept, and the conversation goes on", async () => {
  const { session, model } = await openAgent(["Fine."], { scripted: { contextLimitTokens: 1_000 } })
  await expect(session.send("word ".repeat(4_000))).rejects.toMatchObject({ code: "invalid_input" })
  expect(session.history()).toEqual([])
  expect((await session.send("Hello.")).text).toBe("Fine.")
  expect(model.callCount).toBe(1)
})
