import { expect, test } from "vitest"
import { callsOf, type Message, textOf, userMessage } from "../../src/plugin/message.ts"
import { createWire, MODELS, toRequest } from "../support/models/wire.ts"

test("input that is not JSON stays text", async () => {
  const { mock, connect } = await createWire()
  mock.addFixture({
    match: { userMessage: "look" },
    response: { toolCalls: [{ id: "call_a", name: "read", arguments: '{"path":' }] },
  })
  for (const id of [MODELS.responses, MODELS.chat]) {
    const { message } = await (await connect(id)).generate(toRequest([userMessage("look")]))
    expect(callsOf(message)[0]?.input).toBe('{"path":')
  }
})

test("calls get distinct ids even if the server counts from 0 in every answer", async () => {
  const { mock, connect } = await createWire()
  mock.on({ userMessage: "look" }, { toolCalls: [{ id: "call_0", name: "read", arguments: "{}" }] })
  const history: readonly Message[] = [
    { role: "assistant", parts: [{ type: "call", id: "call_0", tool: "read", input: {} }] },
    { role: "tool", parts: [{ type: "result", callId: "call_0", tool: "read", isError: false, content: [] }] },
    userMessage("look"),
  ]
  const { message } = await (await connect(MODELS.chat)).generate(toRequest(history))
  expect(callsOf(message)[0]?.id).toBe("call_0_2")
})

test("nothing is kept at OpenAI, and its reasoning comes back encrypted", async () => {
  const { mock, connect, requests } = await createWire()
  mock.on({ userMessage: "hello" }, { content: "Hi." })
  await (await connect(MODELS.responses)).generate(toRequest([userMessage("hello")]))
  expect(requests[0]?.body).toMatchObject({ store: false, include: ["reasoning.encrypted_content"] })
  expect(requests[0]?.body.tools[0]?.strict).not.toBe(true)
})

test("Anthropic is asked to cache the conversation", async () => {
  const { mock, connect, requests } = await createWire()
  mock.on({ userMessage: "hello" }, { content: "Hi." })
  await (await connect(MODELS.anthropic)).generate(toRequest([userMessage("hello")]))
  expect(requests[0]?.body.cache_control).toEqual({ type: "ephemeral" })
})

test("Vertex and OpenRouter answer by the same rules", async () => {
  const { mock, connect, requests } = await createWire()
  mock.on({ userMessage: "hello" }, { content: "Hi." })
  for (const id of ["vertex/gemini-2.5-pro", "openrouter/some/model"]) {
    const { message } = await (await connect(id)).generate(toRequest([userMessage("hello")]))
    expect(textOf(message)).toBe("Hi.")
  }
  expect(requests.map(({ url }) => url)).toEqual([
    "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
    "/api/v1/chat/completions",
  ])
})
