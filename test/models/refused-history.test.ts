import { expect, test } from "vitest"
import type { Message } from "../../src/plugin/message.ts"
import { userMessage } from "../../src/plugin/message.ts"
import { APIS, createWire, MODELS, toRequest } from "../support/models/wire.ts"

test.each(["functions.read", "read file", "", "1st", "x".repeat(100)])(
  "a call of a tool that nobody has, %j, goes back under a name that every API takes",
  async (tool) => {
    const { mock, connect, requests } = await createWire()
    mock.on({ userMessage: "look" }, { content: "Sorry." })
    const messages: readonly Message[] = [
      userMessage("look"),
      { role: "assistant", parts: [{ type: "call", id: "call_a", tool, input: {} }] },
      { role: "tool", parts: [toResult(tool, "There is no such tool.")] },
    ]
    for (const api of APIS) await (await connect(MODELS[api])).generate(toRequest(messages))
    const names = requests.flatMap(({ body }) => findNames(body))
    expect(names.length).toBeGreaterThanOrEqual(APIS.length)
    for (const name of names) expect(name).toMatch(/^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/)
  },
)

test.each(APIS)("half a character at the end of a cut text is not sent over the %s API", async (api) => {
  const { mock, connect, requests } = await createWire()
  mock.on({ userMessage: /look/ }, { content: "Fine." })
  const cut = "a smile: \ud83d"
  const messages: readonly Message[] = [
    userMessage(`look ${cut}`),
    {
      role: "assistant",
      parts: [
        { type: "text", text: cut },
        { type: "call", id: "call_a", tool: "read", input: {} },
      ],
    },
    { role: "tool", parts: [toResult("read", cut)] },
  ]
  await (await connect(MODELS[api])).generate(toRequest(messages))
  expect(JSON.stringify(requests[0]?.body)).not.toMatch(/\\ud83d/)
  expect(JSON.stringify(requests[0]?.body)).toContain("a smile: �")
})

function toResult(tool: string, text: string) {
  return { type: "result", callId: "call_a", tool, isError: true, content: [{ type: "text", text }] } as const
}

/** The names of called tools. Offered tools are left out: they are named beside their schema. */
function findNames(body: unknown): readonly string[] {
  if (Array.isArray(body)) return body.flatMap(findNames)
  if (typeof body !== "object" || body === null) return []
  const isOffer = "parameters" in body || "input_schema" in body || "parametersJsonSchema" in body
  const own = "name" in body && typeof body.name === "string" && !isOffer ? [body.name] : []
  return [...own, ...Object.values(body).flatMap(findNames)]
}
