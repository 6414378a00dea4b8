import { expect, test } from "vitest"
import { deserializeHistory, serializeHistory } from "../../src/builtin/models/history.ts"
import { callsOf, type Message, textOf, userMessage } from "../../src/plugin/message.ts"
import { APIS, type Api, createWire, MODELS, toRequest, type WireBody } from "../support/models/wire.ts"

const ORDERS = permute(APIS).map((order) => [order.join(", "), order] as const)

test.each(ORDERS)("a conversation goes through %s and every API takes it", async (_, order) => {
  const { mock, connect, requests } = await createWire()
  for (const api of APIS) {
    // An id of a server whose ids have an unusual form.
    const id = api === "chat" ? "functions.read:0" : `call_${api}`
    mock.on(
      { userMessage: `ask ${api}`, hasToolResult: false },
      {
        content: `I look, says ${api}.`,
        reasoning: `Thought of ${api}.`,
        reasoningSignature: `signed-${api}`,
        toolCalls: [{ id, name: "read", arguments: `{"path":"${api}"}` }],
      },
    )
    mock.on(
      { userMessage: `ask ${api}`, hasToolResult: true },
      { content: `Done, says ${api}.`, reasoning: `Afterthought of ${api}.`, reasoningSignature: `signed-${api}` },
    )
  }
  let history: readonly Message[] = []
  for (const api of [...order, ...order]) {
    const model = await connect(MODELS[api])
    history = [...history, userMessage(`ask ${api}`)]
    for (const expected of ["calls", "stop"]) {
      const { message, finish } = await model.generate(toRequest(history))
      expect(finish).toBe(expected)
      expect(textOf(message)).toContain(api)
      const sent = requests.at(-1)
      if (!sent) throw new Error("nothing was sent")
      CHECKS[api](sent.body)
      const results = callsOf(message).map(({ id, tool }) => toResult(id, tool, api))
      const added: readonly Message[] = results.length > 0 ? [message, { role: "tool", parts: results }] : [message]
      history = [...history, ...added]
      const stored = deserializeHistory(serializeHistory(history))
      expect(stored).toStrictEqual(history)
      expect(serializeHistory(stored)).toBe(serializeHistory(history))
      history = stored
    }
  }
  const ids = history.flatMap(callsOf).map(({ id }) => id)
  expect(new Set(ids).size).toBe(8)
})

function toResult(callId: string, tool: string, api: Api) {
  return { type: "result", callId, tool, isError: false, content: [{ type: "text", text: `of ${api}` }] } as const
}

/** Checks what each API itself would refuse. */
const CHECKS: Record<Api, (body: WireBody) => void> = {
  anthropic({ messages }) {
    const blocks = messages.flatMap(({ content }) => content)
    for (const { thinking, signature } of blocks.filter(({ type }) => type === "thinking")) {
      expect(thinking).toMatch(/hought of anthropic\./)
      expect(signature).toBe("signed-anthropic")
    }
    const uses = blocks.filter(({ type }) => type === "tool_use")
    for (const { id, input } of uses) {
      expect(id).toMatch(/^[a-zA-Z0-9_-]+$/)
      expect(input).toBeTypeOf("object")
    }
    expect(blocks.flatMap(({ tool_use_id }) => tool_use_id ?? [])).toEqual(uses.map(({ id }) => id))
  },
  responses({ input, store }) {
    expect(store).toBe(false)
    const of = (wanted: string) => input.filter(({ type }) => type === wanted)
    expect(of("item_reference")).toEqual([])
    for (const { encrypted_content, summary } of of("reasoning")) {
      expect(encrypted_content).toBeTypeOf("string")
      expect(summary[0]?.text).toMatch(/hought of responses\./)
    }
    const calls = of("function_call").map(({ call_id }) => call_id)
    expect(of("function_call_output").map(({ call_id }) => call_id)).toEqual(calls)
    for (const id of calls) expect(id.length).toBeLessThanOrEqual(64)
  },
  google({ contents }) {
    const parts = contents.flatMap(({ parts }) => parts)
    for (const { text } of parts.filter(({ thought }) => thought)) expect(text).toMatch(/hought of google\./)
    for (const { parts } of contents) expect(parts.length).toBeGreaterThan(0)
    const called = parts.flatMap(({ functionCall }) => functionCall?.id ?? [])
    expect(parts.flatMap(({ functionResponse }) => functionResponse?.id ?? [])).toEqual(called)
    expect(JSON.stringify(contents)).not.toContain("signed-anthropic")
  },
  chat({ messages }) {
    for (const thought of messages.flatMap(({ reasoning_content }) => reasoning_content ?? [])) {
      expect(thought).toMatch(/hought of chat\./)
    }
    const called = messages.flatMap(({ tool_calls }) => tool_calls?.map(({ id }) => id) ?? [])
    expect(messages.flatMap(({ tool_call_id }) => tool_call_id ?? [])).toEqual(called)
    // A server's own ids come back to it as they were.
    const own = called.filter((id) => id.startsWith("functions"))
    for (const id of own) expect(id).toMatch(/^functions\.read:0(_2)?$/)
    expect(JSON.stringify(messages)).not.toMatch(/extra_content|signed-|encrypted/)
  },
}

function permute<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  if (items.length === 0) return [[]]
  return items.flatMap((item) => permute(items.filter((other) => other !== item)).map((rest) => [item, ...rest]))
}
