import { LLMock } from "@copilotkit/aimock"
import { onTestFinished } from "vitest"
import { createModelProviders, type ModelProvidersOptions } from "../../../src/builtin/models/model-providers.ts"
import type { Message } from "../../../src/plugin/message.ts"
import type { ConnectedModel, ModelDelta, ModelRequest } from "../../../src/plugin/model.ts"

export const KEY = "sk-wire-7f3a9c1e5b2d8046"

/** One model for each way of talking to a provider. */
export const MODELS = {
  responses: "openai/gpt-5",
  chat: "local/some-model",
  anthropic: "anthropic/claude-sonnet-4-5",
  google: "google/gemini-2.5-pro",
} as const
export type Api = keyof typeof MODELS
export const APIS = Object.keys(MODELS) as readonly Api[]

/** The fields of the four APIs' requests that tests look at. Each API sends some of them. */
export interface WireBody {
  readonly store?: boolean
  readonly tools: readonly { readonly strict?: boolean }[]
  readonly cache_control?: unknown
  /** Responses. */
  readonly input: readonly WireItem[]
  /** Chat completions and Anthropic. */
  readonly messages: readonly WireMessage[]
  /** Google. */
  readonly contents: readonly { readonly parts: readonly WirePart[] }[]
}

interface WireItem {
  readonly type?: string
  readonly call_id: string
  readonly encrypted_content?: string
  readonly summary: readonly { readonly text: string }[]
}

interface WireMessage {
  readonly role: string
  readonly content: readonly WirePart[]
  readonly reasoning_content?: string
  readonly tool_calls?: readonly { readonly id: string }[]
  readonly tool_call_id?: string
}

interface WirePart {
  readonly type?: string
  readonly id: string
  readonly text?: string
  readonly input?: unknown
  readonly thinking?: string
  readonly signature?: string
  readonly tool_use_id?: string
  readonly is_error?: boolean
  readonly thought?: boolean
  readonly functionCall?: { readonly id: string }
  readonly functionResponse?: { readonly id: string; readonly response: { readonly error?: string } }
}

export interface WireRequest {
  readonly url: string
  readonly headers: Headers
  readonly body: WireBody
}

export interface Wire {
  readonly mock: LLMock
  /** The requests, oldest first. */
  readonly requests: readonly WireRequest[]
  connect(id: string): Promise<ConnectedModel>
}

/** Real providers that talk over real HTTP to a local server, which stands in for all of their APIs. */
export async function createWire(): Promise<Wire> {
  const mock = new LLMock({ port: 0, host: "127.0.0.1" })
  await mock.start()
  onTestFinished(() => mock.stop().catch(() => undefined))
  return { mock, ...connectTo(mock.url) }
}

/** The real providers, with every request sent to `origin` instead. */
export function connectTo(origin: string, more: Pick<ModelProvidersOptions, "clock"> = {}): Omit<Wire, "mock"> {
  const requests: WireRequest[] = []
  const plugins = createModelProviders({
    ...more,
    environment: {
      OPENAI_API_KEY: KEY,
      ANTHROPIC_API_KEY: KEY,
      GEMINI_API_KEY: KEY,
      LOCAL_KEY: KEY,
      GOOGLE_VERTEX_API_KEY: KEY,
      OPENROUTER_API_KEY: KEY,
    },
    providers: { local: { baseUrl: `${origin}/v1`, apiKeyEnv: "LOCAL_KEY" }, vertex: { baseUrl: `${origin}/v1beta` } },
    fetch: (input, init) => {
      const { pathname, search } = new URL(input instanceof Request ? input.url : input)
      const text = typeof init?.body === "string" ? init.body : "null"
      requests.push({
        url: `${pathname}${search}`,
        headers: new Headers(init?.headers),
        body: JSON.parse(text) as WireBody,
      })
      return fetch(`${origin}${pathname}${search}`, init)
    },
  })
  return {
    requests,
    async connect(id) {
      const [name = "", ...model] = id.split("/")
      const plugin = plugins.find((plugin) => plugin.name === name)
      if (!plugin) throw new Error(`no provider for ${id}`)
      return plugin.connect(model.join("/"))
    },
  }
}

export function toRequest(messages: readonly Message[], more: Partial<ModelRequest> = {}): ModelRequest {
  return { system: "Be brief.", messages, tools: TOOLS, signal: new AbortController().signal, ...more }
}

const TOOLS = ["read", "search"].map((name) => ({
  name,
  description: `Does ${name}.`,
  inputSchema: { type: "object", properties: { path: { type: "string" } } },
}))

export function collectDeltas(): { readonly deltas: ModelDelta[]; readonly onDelta: (delta: ModelDelta) => void } {
  const deltas: ModelDelta[] = []
  return { deltas, onDelta: (delta) => deltas.push(delta) }
}
