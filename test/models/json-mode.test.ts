import { expect, test } from "vitest"
import type { JsonObject } from "../../src/base/json.ts"
import { isStrict, toResponseFormat } from "../../src/builtin/models/response-format.ts"
import { userMessage } from "../../src/plugin/message.ts"
import { COUNTED_ANSWERS, createStreamServer } from "../support/models/stream-server.ts"
import { type Api, MODELS, toRequest } from "../support/models/wire.ts"

const schema: JsonObject = {
  type: "object",
  properties: {
    city: { type: "string" },
    more: { type: "object", properties: { a: { type: "number" } }, required: ["a"] },
  },
  required: ["city", "more"],
}
const CLOSED = { additionalProperties: false, properties: { more: { additionalProperties: false } } }

/** The request's body, as the provider reads it, for an answer in this form. */
async function askFor(api: Api, output: JsonObject): Promise<unknown> {
  const { connect, requests } = await createStreamServer({ chunks: COUNTED_ANSWERS[api] })
  const model = await connect(MODELS[api])
  expect(model.hasJsonMode).toBe(api !== "chat")
  await model.generate(toRequest([userMessage("hi")], { output: { schema: output } }))
  return requests[0]?.body
}

test("an answer in a form is asked for in each provider's own words, beside the tools", async () => {
  expect(await askFor("responses", schema)).toMatchObject({
    tools: [{ name: "read" }, { name: "search" }],
    text: { format: { type: "json_schema", strict: true, schema: CLOSED } },
  })
  expect(await askFor("anthropic", schema)).toMatchObject({
    tools: [{ name: "read" }, { name: "search" }],
    output_config: { format: { type: "json_schema", schema: CLOSED } },
  })
  expect(JSON.stringify(await askFor("google", schema))).toContain('"city"')
})

test("a form with optional properties is not checked strictly, which OpenAI would refuse", async () => {
  const open = { ...schema, required: ["city"] }
  expect(await askFor("responses", open)).toMatchObject({ text: { format: { strict: false } } })
})

test.each([
  ["all properties are required", schema, true],
  ["one is optional", { ...schema, required: ["city"] }, false],
  ["one is optional inside a list", { type: "array", items: { type: "object", properties: { a: {} } } }, false],
  ["it takes any property", { type: "object", additionalProperties: { type: "string" } }, false],
] as const)("a form in which %s", (_, form, expected) => {
  expect(isStrict(form)).toBe(expected)
})

test("a default or an example that looks like a schema is left as it is", () => {
  const value = { type: "object", properties: {} }
  const format = toResponseFormat({ type: "object", properties: { a: { default: value } }, required: ["a"] })
  expect(format).toMatchObject({ schema: { properties: { a: { default: value } } } })
})
