import { expect, test } from "vitest"
import { MeanwhileError } from "../../base/error.ts"
import { userMessage } from "../../plugin/message.ts"
import { createModelProviders, type ModelProvidersOptions, toOllamaUrl } from "./model-providers.ts"
import { providersConfigSchema } from "./providers-config.ts"

const KEY = "sk-test-51c0ffee1234"

function find(name: string, options: Partial<ModelProvidersOptions> = {}) {
  const plugin = createModelProviders({ environment: {}, ...options }).find((plugin) => plugin.name === name)
  if (!plugin) throw new Error(`no provider ${name}`)
  return plugin
}

async function catchError(work: () => unknown): Promise<unknown> {
  try {
    return await work()
  } catch (error) {
    return error
  }
}

test.each([
  ["anthropic", "ANTHROPIC_API_KEY"],
  ["openai", "OPENAI_API_KEY"],
  ["google", "GEMINI_API_KEY"],
  ["vertex", "GOOGLE_VERTEX_PROJECT"],
  ["openrouter", "OPENROUTER_API_KEY"],
])("%s without a key names the variable %s", async (name, variable) => {
  const plugin = find(name)
  expect(plugin.isConfigured?.()).toBe(false)
  const error = await catchError(() => plugin.connect("some-model"))
  expect(error).toMatchObject({ code: "key_missing", message: expect.stringContaining(variable) })
})

test.each(["anthropic", "openai", "google", "openrouter"])("%s connects with the key of its variable", async (name) => {
  const environment = { ANTHROPIC_API_KEY: KEY, OPENAI_API_KEY: KEY, GEMINI_API_KEY: KEY, OPENROUTER_API_KEY: KEY }
  const plugin = find(name, { environment })
  expect(plugin.isConfigured?.()).toBe(true)
  expect((await plugin.connect("vendor/model")).id).toBe(`${name}/vendor/model`)
})

test("Vertex takes its project and location from variables or configuration", async () => {
  const environment = { GOOGLE_CLOUD_PROJECT: "my-project" }
  const error = await catchError(() => find("vertex", { environment }).connect("gemini-2.5-pro"))
  expect(error).toMatchObject({ code: "key_missing", message: expect.stringContaining("GOOGLE_VERTEX_LOCATION") })
  const plugin = find("vertex", { environment, providers: { vertex: { location: "global" } } })
  expect(plugin.isConfigured?.()).toBe(true)
  expect((await plugin.connect("gemini-2.5-pro")).id).toBe("vertex/gemini-2.5-pro")
  expect((await plugin.connect("claude-sonnet-4-5")).id).toBe("vertex/claude-sonnet-4-5")
})

test("Ollama needs no key and counts as wanted once it is named", async () => {
  expect((await find("ollama").connect("llama")).id).toBe("ollama/llama")
  expect(find("ollama").isConfigured?.()).toBe(false)
  expect(find("ollama", { environment: { OLLAMA_HOST: "box:11434" } }).isConfigured?.()).toBe(true)
})

test.each([
  [undefined, "http://127.0.0.1:11434/v1"],
  ["0.0.0.0", "http://127.0.0.1:11434/v1"],
  [":8080", "http://127.0.0.1:8080/v1"],
  ["box", "http://box:11434/v1"],
  ["https://box.example/ollama/", "https://box.example/ollama/v1"],
])("OLLAMA_HOST %s is %s", (host, url) => {
  expect(toOllamaUrl(host)).toBe(url)
})

test("a key that could not be a header is refused without being shown", async () => {
  const plugin = find("openai", { environment: { OPENAI_API_KEY: `${KEY} and\nmore` } })
  const error = await catchError(() => plugin.connect("gpt-5"))
  expect(error).toMatchObject({ code: "key_refused", message: expect.stringContaining("OPENAI_API_KEY") })
  expect(error instanceof MeanwhileError && error.message).not.toContain(KEY)
})

test("a secret header, or one in the address, is not shown where the provider quotes it", async () => {
  const message = "Refused: Token opaque-5544 of user at opaque-7788."
  const fetch = async () => Response.json({ error: { message } }, { status: 401 })
  const providers = {
    house: { baseUrl: "https://user:opaque-7788@house.example/v1", headers: { "x-house": "Token opaque-5544" } },
  }
  const model = await find("house", { providers, fetch }).connect("small")
  const request = { system: "", messages: [userMessage("hi")], tools: [], signal: new AbortController().signal }
  const error = await catchError(() => model.generate(request))
  expect(error).toMatchObject({ code: "key_refused" })
  expect(String(error)).not.toContain("opaque")
})

test("a variable named in the configuration replaces the usual one", async () => {
  const providers = { anthropic: { apiKeyEnv: "WORK_KEY" } }
  const error = await catchError(() =>
    find("anthropic", { providers, environment: { ANTHROPIC_API_KEY: KEY } }).connect("m"),
  )
  expect(error).toMatchObject({ code: "key_missing", message: expect.stringContaining("WORK_KEY") })
  expect(find("anthropic", { providers, environment: { WORK_KEY: KEY } }).isConfigured?.()).toBe(true)
})

test.each([
  ["a further provider without a base URL", { mine: {} }, /mine\.baseUrl: is needed/],
  [
    "a header with credentials",
    { openai: { headers: { "X-Api-Key": KEY } } },
    /X-Api-Key: carries credentials.*apiKeyEnv/,
  ],
  ["a key in place of its variable", { openai: { apiKeyEnv: KEY } }, /apiKeyEnv: must be the name of a variable/],
  ["a setting that means nothing there", { anthropic: { location: "global" } }, /anthropic\.location: means nothing/],
  ["a password in a URL", { mine: { baseUrl: `https://me:${KEY}@example.com` } }, /baseUrl: must hold no password/],
  ["a key nobody knows", { openai: { apiKey: KEY } }, /openai: Unrecognized key: "apiKey"/],
  ["an idle timeout of nothing", { idleTimeoutSeconds: 0 }, /idleTimeoutSeconds/],
  ["a name that no plugin can have", { "My Server": { baseUrl: "http://localhost" } }, /My Server/],
])("the configuration refuses %s", (_, config, expected) => {
  const { success, error } = providersConfigSchema().safeParse(config)
  const text = success ? "" : error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`).join("\n")
  expect(text).toMatch(expected)
  expect(JSON.stringify(error?.issues)).not.toContain(KEY)
})

test("the configuration takes every provider's own settings", () => {
  const config = {
    openai: { organization: "org-1", project: "proj-1", headers: { "X-Team": "core" } },
    vertex: { project: "p", location: "europe-west4" },
    mine: { baseUrl: "http://127.0.0.1:8000/v1", apiKeyEnv: "MINE_KEY" },
    idleTimeoutSeconds: 90,
  }
  expect(providersConfigSchema().parse(config)).toEqual(config)
  expect(providersConfigSchema().parse({})).toEqual({ idleTimeoutSeconds: 60 })
})
