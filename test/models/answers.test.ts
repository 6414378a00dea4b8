import { describe, expect, test } from "vitest"
import { callsOf, type Message, textOf, userMessage } from "../../src/plugin/message.ts"
import { COUNTED_ANSWERS, createStreamServer } from "../support/models/stream-server.ts"
import { APIS, collectDeltas, createWire, KEY, MODELS, toRequest } from "../support/models/wire.ts"

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

const USAGE = {
  input_tokens: 120,
  output_tokens: 30,
  prompt_tokens: 120,
  completion_tokens: 30,
  promptTokenCount: 120,
  candidatesTokenCount: 30,
}

describe.each(APIS)("over the %s API", (api) => {
  test("text arrives in pieces and as a whole", async () => {
    const { mock, connect } = await createWire()
    mock.on({ userMessage: "hello" }, { content: "Good morning to all of you." }, { chunkSize: 6 })
    const { deltas, onDelta } = collectDeltas()
    const { message, finish } = await (await connect(MODELS[api])).generate(
      toRequest([userMessage("hello")], { onDelta }),
    )
    expect(textOf(message)).toBe("Good morning to all of you.")
    expect(deltas.length).toBeGreaterThan(2)
    expect(deltas.map(({ text }) => text).join("")).toBe(textOf(message))
    expect(finish).toBe("stop")
  })

  test("the answer says how many tokens it used", async () => {
    const { mock, connect } = await createWire()
    mock.on({ userMessage: "hello" }, { content: "Hi.", usage: USAGE })
    const { usage } = await (await connect(MODELS[api])).generate(toRequest([userMessage("hello")]))
    expect(usage).toEqual({ inputTokens: 120, cachedInputTokens: 0, outputTokens: 30, reasoningTokens: 0 })
  })

  test("usage counts cached tokens and reasoning tokens", async () => {
    const { connect } = await createStreamServer({ chunks: COUNTED_ANSWERS[api] })
    const { usage, message } = await (await connect(MODELS[api])).generate(toRequest([userMessage("hello")]))
    expect(textOf(message)).toBe("Hi.")
    expect(usage).toEqual({ inputTokens: 120, cachedInputTokens: 100, outputTokens: 30, reasoningTokens: 10 })
  })

  test("several calls of one answer keep their order, ids and inputs", async () => {
    const { mock, connect } = await createWire()
    const toolCalls = [
      { id: "call_a", name: "read", arguments: '{"path":"a"}' },
      { id: "call_b", name: "search", arguments: '{"path":"b"}' },
      { id: "call_c", name: "read", arguments: '{"path":"c"}' },
    ]
    mock.on({ userMessage: "look" }, { toolCalls })
    const { message, finish } = await (await connect(MODELS[api])).generate(toRequest([userMessage("look")]))
    expect(callsOf(message).map(({ id, tool, input }) => ({ id, tool, input }))).toEqual([
      { id: "call_a", tool: "read", input: { path: "a" } },
      { id: "call_b", tool: "search", input: { path: "b" } },
      { id: "call_c", tool: "read", input: { path: "c" } },
    ])
    expect(finish).toBe("calls")
  })

  test("results and failures of tools go back to the calls they answer", async () => {
    const { mock, connect, requests } = await createWire()
    mock.on({ hasToolResult: true }, { content: "I see." })
    const messages: readonly Message[] = [
      userMessage("look"),
      {
        role: "assistant",
        parts: [
          { type: "call", id: "call_a", tool: "read", input: { path: "a" } },
          { type: "call", id: "call_b", tool: "read", input: "{ no json" },
        ],
      },
      {
        role: "tool",
        parts: [
          {
            type: "result",
            callId: "call_a",
            tool: "read",
            isError: false,
            content: [{ type: "text", text: "alpha" }],
          },
          {
            type: "result",
            callId: "call_b",
            tool: "read",
            isError: true,
            content: [{ type: "text", text: "no such file" }],
          },
        ],
      },
    ]
    const { message } = await (await connect(MODELS[api])).generate(toRequest(messages))
    expect(textOf(message)).toBe("I see.")
    const sent = JSON.stringify(requests[0]?.body)
    expect(sent).toContain("alpha")
    expect(sent).toContain("no such file")
    expect(sent.match(/call_b/g)?.length).toBe(2)
    if (api === "anthropic") expect(requests[0]?.body.messages[2]?.content[1]?.is_error).toBe(true)
    if (api === "google")
      expect(requests[0]?.body.contents[2]?.parts[1]?.functionResponse?.response.error).toBe("no such file")
  })

  test("reasoning comes as separate parts and goes back as it came", async () => {
    const { mock, connect, requests } = await createWire()
    const thoughts = { reasoning: "They greet me.", reasoningSignature: "c2lnbmF0dXJl" }
    mock.on({ userMessage: "hello" }, { content: "Hi.", ...thoughts })
    mock.on({ userMessage: "again" }, { content: "Hi again." })
    const { deltas, onDelta } = collectDeltas()
    const model = await connect(MODELS[api])
    const first = userMessage("hello")
    const { message } = await model.generate(toRequest([first], { onDelta }))
    expect(message.parts.map(({ type }) => type)).toEqual(["reasoning", "text"])
    expect(message.parts[0]).toMatchObject({ text: "They greet me." })
    expect(
      deltas
        .filter(({ type }) => type === "reasoning")
        .map(({ text }) => text)
        .join(""),
    ).toBe("They greet me.")
    await model.generate(toRequest([first, message, userMessage("again")]))
    const sent = JSON.stringify(requests[1]?.body)
    expect(sent).toContain("They greet me.")
    if (api === "anthropic") expect(sent).toContain("c2lnbmF0dXJl")
    if (api === "responses") expect(sent).toContain("encrypted_content")
  })

  test("images, documents and text files are shown, from people and from tools", async () => {
    const { mock, connect, requests } = await createWire()
    mock.on({ predicate: () => true }, { content: "A pixel." })
    const image = { type: "file", mediaType: "image/png", name: "pixel.png", source: { data: PIXEL } } as const
    const text = {
      type: "file",
      mediaType: "text/plain",
      name: "a.txt",
      source: { data: btoa("plain words") },
    } as const
    const pdf = {
      type: "file",
      mediaType: "application/pdf",
      name: "a.pdf",
      source: { data: btoa("%PDF-1.4") },
    } as const
    const messages: readonly Message[] = [
      userMessage("what is this?", [image, text, pdf]),
      { role: "assistant", parts: [{ type: "call", id: "call_a", tool: "read", input: {} }] },
      { role: "tool", parts: [{ type: "result", callId: "call_a", tool: "read", isError: false, content: [image] }] },
    ]
    await (await connect(MODELS[api])).generate(toRequest(messages))
    const sent = JSON.stringify(requests[0]?.body)
    expect(sent.split(PIXEL).length - 1).toBe(2)
    expect(sent).toContain("plain words")
    expect(sent).toContain(btoa("%PDF-1.4"))
  })

  test("the key goes into a header and nowhere else", async () => {
    const { mock, connect, requests } = await createWire()
    mock.on({ userMessage: "hello" }, { content: "Hi." })
    await (await connect(MODELS[api])).generate(toRequest([userMessage("hello")]))
    expect(requests).toHaveLength(1)
    expect([...(requests[0]?.headers.values() ?? [])].filter((value) => value.includes(KEY))).toHaveLength(1)
    expect(`${requests[0]?.url}${JSON.stringify(requests[0]?.body)}`).not.toContain(KEY)
  })
})
