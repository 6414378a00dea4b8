import { expect, test } from "vitest"
import { createModelProviders } from "../../src/builtin/models/model-providers.ts"
import { providersConfigSchema } from "../../src/builtin/models/providers-config.ts"
import type { ProvidersSection } from "../../src/builtin/models/provider-table.ts"
import { userMessage } from "../../src/plugin/message.ts"
import { toRequest } from "../support/models/wire.ts"

const KEY = "sk-base-url-0123456789"
const KEYS = {
  OPENAI_API_KEY: KEY,
  ANTHROPIC_API_KEY: KEY,
  GEMINI_API_KEY: KEY,
  OPENROUTER_API_KEY: KEY,
}

/** Where the model's call goes. */
async function findUrl(
  id: string,
  environment: Readonly<Record<string, string>>,
  providers: ProvidersSection = {},
): Promise<{ readonly url: string; readonly key: string | null }> {
  const asked: { readonly url: string; readonly key: string | null }[] = []
  const plugins = createModelProviders({
    environment,
    providers,
    fetch: async (input, init) => {
      const key = new Headers(init?.headers).get("authorization")
      asked.push({ url: input instanceof Request ? input.url : String(input), key })
      return Response.json({ error: { message: "no" } }, { status: 400 })
    },
  })
  const [name = "", ...model] = id.split("/")
  const connected = await plugins.find((plugin) => plugin.name === name)?.connect(model.join("/"))
  await connected?.generate(toRequest([userMessage("hi")])).catch(() => undefined)
  const [first] = asked
  if (!first) throw new Error("nothing was asked")
  return first
}

test.each([
  [
    "openai/gpt-5",
    { OPENAI_BASE_URL: "https://house.example/openai/v1/" },
    "https://house.example/openai/v1/responses",
  ],
  ["anthropic/claude-opus-5", { ANTHROPIC_BASE_URL: "https://house.example" }, "https://house.example/v1/messages"],
  [
    "anthropic/claude-opus-5",
    { ANTHROPIC_BASE_URL: "https://house.example/a/v1" },
    "https://house.example/a/v1/messages",
  ],
  [
    "google/gemini-2.5-pro",
    { GOOGLE_GEMINI_BASE_URL: "https://house.example/" },
    "https://house.example/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
  ],
  [
    "google/gemini-2.5-pro",
    { GOOGLE_GENERATIVE_AI_BASE_URL: "https://house.example/v1" },
    "https://house.example/v1/models/gemini-2.5-pro:streamGenerateContent?alt=sse",
  ],
  [
    "openrouter/some/model",
    { OPENROUTER_BASE_URL: "https://house.example/api/v1" },
    "https://house.example/api/v1/chat/completions",
  ],
])("%s is called where %j says", async (id, variables, expected) => {
  expect((await findUrl(id, { ...KEYS, ...variables })).url).toBe(expected)
})

test("a base URL of the configuration goes before the variable", async () => {
  const environment = { ...KEYS, OPENAI_BASE_URL: "https://variable.example/v1" }
  const providers = { openai: { baseUrl: "https://house.example/v1" } }
  expect((await findUrl("openai/gpt-5", environment, providers)).url).toBe("https://house.example/v1/responses")
})

test("a base URL does not change the API that is spoken: only `api` does, with and without one", async () => {
  const baseUrl = "https://house.example/v1"
  const toPath = async (settings: ProvidersSection[string]) =>
    new URL((await findUrl("openai/gpt-5", KEYS, { openai: settings })).url).pathname
  expect(await toPath({})).toBe("/v1/responses")
  expect(await toPath({ baseUrl })).toBe("/v1/responses")
  expect(await toPath({ api: "chat" })).toBe("/v1/chat/completions")
  expect(await toPath({ baseUrl, api: "chat" })).toBe("/v1/chat/completions")
  expect(providersConfigSchema().safeParse({ openai: { api: "grpc" } }).success).toBe(false)
  expect(providersConfigSchema().safeParse({ anthropic: { api: "chat" } }).success).toBe(false)
})

test("a server of one's own needs no key, whichever way it is named", async () => {
  const { url, key } = await findUrl("openai/local", { OPENAI_BASE_URL: "http://127.0.0.1:9/v1" })
  expect(url).toBe("http://127.0.0.1:9/v1/responses")
  expect(key?.replace("Bearer", "").trim()).toBe("")
})

test("a variable that holds no URL is refused by its name", async () => {
  const asking = findUrl("openai/gpt-5", { ...KEYS, OPENAI_BASE_URL: "house.example" })
  await expect(asking).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("OPENAI_BASE_URL"),
  })
  const openai = createModelProviders({ environment: { ...KEYS, OPENAI_BASE_URL: "house.example" } })
  expect(openai.find(({ name }) => name === "openai")?.isConfigured?.()).toBe(false)
})
