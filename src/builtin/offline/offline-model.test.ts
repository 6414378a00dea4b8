import { describe, expect, test } from "vitest"
import { createManualClock } from "../../base/manual-clock.ts"
import { callsOf, type Message, textOf, userMessage } from "../../plugin/message.ts"
import type { ModelDelta } from "../../plugin/model.ts"
import { createOfflineProvider } from "./offline-provider.ts"
import { generate, tool } from "../../../test/support/builtin/offline.ts"

describe("the text that Meanwhile puts beside the person's words", () => {
  const marked: Message = {
    role: "user",
    parts: [{ type: "text", text: "run `a`", metadata: { meanwhile: { lead: "summary" } } }],
  }

  test.each([
    ["a part that is marked", [marked, userMessage("say hi")]],
    ["a message in brackets", [userMessage("[Earlier messages were removed.]"), userMessage("say hi")]],
    ["a paragraph behind them", [userMessage("say hi\n\n[Call session_describe with a title.\nrun `a`]")]],
    ["lines behind them", [userMessage("say hi\n[a.png: an image of 3 KB]\n[b.png: an image of 4 KB]")]],
  ])("is not taken for them: %s", async (_how, messages) => {
    expect(textOf((await generate(messages)).message)).toBe("hi")
  })

  test("is not what a person writes to a file", async () => {
    const answer = await generate([userMessage('write file a.json with\n\n["x",\n\n{"y":[1]}]')], {
      tools: [tool("writeNewFile")],
    })
    expect(callsOf(answer.message)[0]?.input).toEqual({ path: "a.json", content: '["x",\n\n{"y":[1]}]' })
  })
})

describe("the offline model", () => {
  test("streams word by word what it then returns, reasoning first", async () => {
    const deltas: ModelDelta[] = []
    const answer = await generate([userMessage("think about tea")], { onDelta: (delta) => deltas.push(delta) })
    const streamed = (type: string) => deltas.filter((delta) => delta.type === type).map(({ text }) => text)
    expect(streamed("text").join("")).toBe(textOf(answer.message))
    expect(streamed("text").length).toBeGreaterThan(5)
    expect(answer.message.parts[0]).toEqual({ type: "reasoning", text: streamed("reasoning").join("") })
    expect(answer.usage.reasoningTokens).toBeGreaterThan(10)
  })

  test("counts slowly by its clock", async () => {
    const clock = createManualClock()
    const heard: string[] = []
    const onDelta = ({ text }: ModelDelta) => heard.push(text.trim())
    const answer = generate([userMessage("count to 3 slowly")], { onDelta }, { clock })
    for (let number = 1; number <= 3; number++) {
      await new Promise(setImmediate)
      expect(heard).toHaveLength(number)
      clock.advance(250)
    }
    expect(textOf((await answer).message)).toBe("1 2 3")
  })

  test("is stopped between two words, and while it waits for the next", async () => {
    const controller = new AbortController()
    const onDelta = ({ text }: ModelDelta) => text.trim() === "2" && controller.abort(new Error("enough"))
    const { signal } = controller
    await expect(generate([userMessage("count to 9")], { signal, onDelta })).rejects.toThrow("enough")
    const later = new AbortController()
    const slow = generate([userMessage("count to 9 slowly")], { signal: later.signal }, { clock: createManualClock() })
    await new Promise(setImmediate)
    later.abort(new Error("no more"))
    await expect(slow).rejects.toThrow("no more")
    await expect(generate([userMessage("help")], { signal })).rejects.toThrow("enough")
  })

  test("lets others run during a long answer", async () => {
    const controller = new AbortController()
    const long = generate([userMessage("count to 1000")], { signal: controller.signal })
    setImmediate(() => controller.abort(new Error("from outside")))
    await expect(long).rejects.toThrow("from outside")
  })

  test("gives the same answer to the same request", async () => {
    const options = { createCallId: () => "call" }
    const messages = [userMessage("run `a` and `b`")]
    expect(await generate(messages, {}, options)).toEqual(await generate(messages, {}, options))
  })

  test("never gives two calls one id", async () => {
    const answers = [await generate([userMessage("run `a` and `b`")]), await generate([userMessage("run `a`")])]
    expect(new Set(answers.flatMap(({ message }) => callsOf(message).map(({ id }) => id))).size).toBe(3)
  })

  test("reports a usage that grows with the conversation, and says when it no longer fits", async () => {
    const short = await generate([userMessage("say hi")])
    const long = await generate([userMessage(`say ${"word ".repeat(1_000)}`)])
    expect(long.usage.inputTokens - short.usage.inputTokens).toBeGreaterThan(1_200)
    expect(long.usage.outputTokens).toBeGreaterThan(1_200)
    const tooLong = generate([userMessage("x".repeat(8_000))], {}, { contextLimitTokens: 1_000 })
    await expect(tooLong).rejects.toMatchObject({ code: "context_overflow", details: { contextLimitTokens: 1_000 } })
  })

  test("stops at the longest answer that was asked for", async () => {
    const answer = await generate([userMessage("count to 100")], { maxOutputTokens: 10 })
    expect([answer.finish, textOf(answer.message).length]).toEqual(["length", 40])
  })

  test("asked for a summary of a conversation, quotes its beginning and its end", async () => {
    const lines = Array.from({ length: 50 }, (_, index) => JSON.stringify({ by: "user", text: `sentence ${index}` }))
    const answer = await generate([userMessage(`The transcript:\n${lines.join("\n")}`)], {
      system: "Write a summary for the agent.",
      tools: [],
    })
    expect(textOf(answer.message)).toMatch(/user: sentence 0\n.*left out.*user: sentence 49$/s)
  })

  test("is one model under every name, with a limit of 32,000 tokens, and needs no key", async () => {
    const provider = createOfflineProvider()
    const model = await provider.connect("anything")
    expect([model.id, model.contextLimitTokens, provider.isConfigured?.()]).toEqual(["offline/anything", 32_000, true])
  })
})
