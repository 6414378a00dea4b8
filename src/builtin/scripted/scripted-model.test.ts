import { describe, expect, test } from "vitest"
import { createManualClock } from "../../base/manual-clock.ts"
import { callsOf, textOf, userMessage } from "../../plugin/message.ts"
import type { ModelDelta, ModelRequest } from "../../plugin/model.ts"
import { createScriptedModel } from "./scripted-model.ts"
import { createScriptedProvider } from "./scripted-provider.ts"

function ask(text: string, changes: Partial<ModelRequest> = {}): ModelRequest {
  return { system: "", messages: [userMessage(text)], tools: [], signal: new AbortController().signal, ...changes }
}

describe("a scripted model", () => {
  test("gives the answers of its script in order, and keeps what it was asked", async () => {
    const model = createScriptedModel([
      { reasoning: "hm", text: "I look.", calls: [{ tool: "readFile", input: { path: "a" } }, { tool: "listTasks" }] },
      "done",
    ])
    const first = await model.generate(ask("one"))
    expect(first.message.parts.map((part) => part.type)).toEqual(["reasoning", "text", "call", "call"])
    expect(first.finish).toBe("calls")
    expect(new Set(callsOf(first.message).map((call) => call.id)).size).toBe(2)
    const second = await model.generate(ask("two"))
    expect([textOf(second.message), second.finish]).toEqual(["done", "stop"])
    expect(model.requests.map(({ messages }) => messages.map(textOf))).toEqual([["one"], ["two"]])
  })

  test("fails clearly when the script is over", async () => {
    const model = createScriptedModel("only this")
    await model.generate(ask("one"))
    await expect(model.generate(ask("two"))).rejects.toMatchObject({
      code: "model_refused",
      message: expect.stringContaining("it has 1 steps and this is call 2"),
    })
  })

  test("asks a function for its step, with the request", async () => {
    const model = createScriptedModel([({ messages }) => `you said ${messages.map(textOf).join()}`])
    expect(textOf((await model.generate(ask("hello"))).message)).toBe("you said hello")
  })

  test("streams its pieces, and breaks off in the middle when the script says so", async () => {
    const model = createScriptedModel([
      { reasoning: "r", text: ["a", "b"], error: { code: "rate_limited", retryAfterMs: 250 } },
    ])
    const deltas: ModelDelta[] = []
    const answer = model.generate(ask("go", { onDelta: (delta) => deltas.push(delta) }))
    await expect(answer).rejects.toMatchObject({ code: "rate_limited", details: { retryAfterMs: 250 } })
    expect(deltas.map(({ type, text }) => `${type}:${text}`)).toEqual(["reasoning:r", "text:a", "text:b"])
  })

  test("waits by its clock, and for its gate", async () => {
    const clock = createManualClock()
    const gate = Promise.withResolvers<void>()
    const model = createScriptedModel(
      [
        { delayMs: 1_000, text: "late" },
        { gate: gate.promise, text: "opened" },
      ],
      {
        clock,
      },
    )
    let isAnswered = false
    const late = model.generate(ask("one")).then(() => (isAnswered = true))
    await Promise.resolve()
    clock.advance(999)
    await new Promise(setImmediate)
    expect(isAnswered).toBe(false)
    clock.advance(1)
    expect(await late).toBe(true)
    const opened = model.generate(ask("two"))
    gate.resolve()
    expect(textOf((await opened).message)).toBe("opened")
  })

  test.each([{ delayMs: 1_000 }, { gate: new Promise(() => {}) }])("is stopped while it waits %j", async (waiting) => {
    const model = createScriptedModel([waiting], { clock: createManualClock() })
    const controller = new AbortController()
    const answer = model.generate(ask("go", { signal: controller.signal }))
    controller.abort(new Error("stopped by the test"))
    await expect(answer).rejects.toThrow("stopped by the test")
  })

  test("is stopped between two pieces", async () => {
    const controller = new AbortController()
    const model = createScriptedModel([{ text: ["a", "b"] }])
    const heard: string[] = []
    function onDelta({ text }: ModelDelta): void {
      heard.push(text)
      controller.abort(new Error("enough"))
    }
    await expect(model.generate(ask("go", { signal: controller.signal, onDelta }))).rejects.toThrow("enough")
    expect(heard).toEqual(["a"])
  })

  test("reports the usage it is given", async () => {
    const usage = { inputTokens: 7, cachedInputTokens: 1, outputTokens: 2, reasoningTokens: 0 }
    const model = createScriptedModel(["a", { text: "b", usage: { outputTokens: 9 } }], { usage })
    expect((await model.generate(ask("one"))).usage).toEqual(usage)
    expect((await model.generate(ask("two"))).usage).toEqual({ ...usage, outputTokens: 9 })
  })

  test("plays a script without an end in constant memory", async () => {
    function* endless() {
      for (let step = 1; ; step++) yield `answer ${step}`
    }
    const model = createScriptedModel(endless(), { keepsRequests: false })
    const request = ask("again")
    let last = ""
    for (let call = 0; call < 1_000; call++) last = textOf((await model.generate(request)).message)
    expect([last, model.callCount, model.requests]).toEqual(["answer 1000", 1_000, []])
  })
})

describe("a scripted provider", () => {
  test("has its models by name, and goes on with the script of one that is connected again", async () => {
    const provider = createScriptedProvider("test", { small: ["a", "b"], large: ["c"] })
    const small = await provider.connect("small")
    expect(small.id).toBe("test/small")
    await small.generate(ask("one"))
    const again = await provider.connect("small")
    expect(textOf((await again.generate(ask("two"))).message)).toBe("b")
    expect(provider.models["small"]?.requests).toHaveLength(2)
    expect(() => provider.connect("huge")).toThrow("test has no script for huge. It has: small, large.")
  })
})
