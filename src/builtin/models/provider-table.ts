import type { LanguageModelV4 } from "@ai-sdk/provider"
import { loadPeer } from "./optional-peer.ts"

/** Settings of a provider in the configuration. */
export interface ProviderSettings {
  readonly baseUrl?: string | undefined
  readonly apiKeyEnv?: string | undefined
  readonly project?: string | undefined
  readonly location?: string | undefined
  readonly organization?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** The API that OpenAI's models are spoken to in, wherever it is. Default: `responses`. */
  readonly api?: (typeof OPENAI_APIS)[number] | undefined
}

export const OPENAI_APIS = ["responses", "chat"] as const

/** The section `providers`: settings by the names of providers, and what holds for all of them. */
export interface ProvidersSection {
  /** How long a provider may send nothing before its call is given up. Default 60. */
  readonly idleTimeoutSeconds?: number | undefined
  readonly [name: string]: ProviderSettings | number | undefined
}

/** The settings alone, by the names of providers. */
export function settingsOf(section: ProvidersSection): Readonly<Record<string, ProviderSettings>> {
  const named = Object.entries(section).flatMap(([name, value]) => (typeof value === "object" ? [[name, value]] : []))
  return Object.fromEntries(named) as Readonly<Record<string, ProviderSettings>>
}

/** All that it takes to call a provider, from configuration and environment. */
export interface ProviderAccess extends Omit<ProviderSettings, "apiKeyEnv"> {
  readonly key: string | undefined
  readonly fetch: typeof globalThis.fetch | undefined
}

export interface ProviderRow {
  readonly settings: readonly (keyof ProviderSettings)[]
  /** Variables that may hold the key; the first that is set counts. */
  readonly keyVariables: readonly string[]
  /** Variables that may say where the API is, if the settings do not; the first that is set counts. */
  readonly baseUrlVariables?: readonly string[]
  /** The version that providers' own SDKs add to the URL in such a variable. */
  readonly apiVersion?: string
  readonly needs: "key" | "project" | "nothing"
  /** The SDK is imported here and not before, so that starting stays fast. */
  open(access: ProviderAccess): Promise<(model: string) => LanguageModelV4>
}

const COMMON = ["baseUrl", "apiKeyEnv", "headers"] as const
/** A server that speaks OpenAI's API, and needs no key. */
const KEYLESS = { settings: COMMON, keyVariables: [], needs: "nothing" } as const

const PROVIDERS: Readonly<Record<string, ProviderRow>> = {
  anthropic: {
    settings: COMMON,
    keyVariables: ["ANTHROPIC_API_KEY"],
    baseUrlVariables: ["ANTHROPIC_BASE_URL"],
    apiVersion: "v1",
    needs: "key",
    open: openAnthropic,
  },
  openai: {
    settings: [...COMMON, "organization", "project", "api"],
    keyVariables: ["OPENAI_API_KEY"],
    baseUrlVariables: ["OPENAI_BASE_URL"],
    needs: "key",
    open: openOpenAI,
  },
  google: {
    settings: COMMON,
    keyVariables: ["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
    baseUrlVariables: ["GOOGLE_GENERATIVE_AI_BASE_URL", "GOOGLE_GEMINI_BASE_URL"],
    apiVersion: "v1beta",
    needs: "key",
    open: openGoogle,
  },
  vertex: {
    settings: [...COMMON, "project", "location"],
    keyVariables: ["GOOGLE_VERTEX_API_KEY"],
    needs: "project",
    open: openVertex,
  },
  openrouter: {
    settings: COMMON,
    keyVariables: ["OPENROUTER_API_KEY"],
    baseUrlVariables: ["OPENROUTER_BASE_URL"],
    needs: "key",
    open: (access) =>
      openCompatible("openrouter", { ...access, baseUrl: access.baseUrl ?? "https://openrouter.ai/api/v1" }),
  },
  ollama: { ...KEYLESS, open: (access) => openCompatible("ollama", access) },
}

export const PROVIDER_NAMES: readonly string[] = Object.keys(PROVIDERS)

/** Any other name is an OpenAI-compatible server. */
export function rowOf(name: string): ProviderRow {
  const row = Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name] : undefined
  return row ?? { ...KEYLESS, open: (access) => openCompatible(name, access) }
}

/** The names of all variables that keys of model providers are taken from. */
export function keyVariables(section: ProvidersSection): ReadonlySet<string> {
  const known = Object.values(PROVIDERS).flatMap((row) => row.keyVariables)
  const configured = Object.values(settingsOf(section)).flatMap(({ apiKeyEnv }) => (apiKeyEnv ? [apiKeyEnv] : []))
  return new Set([...known, ...configured])
}

async function openAnthropic({ key = "", baseUrl = "https://api.anthropic.com/v1", ...more }: ProviderAccess) {
  const { createAnthropic } = await import("@ai-sdk/anthropic")
  return createAnthropic({ apiKey: key, baseURL: baseUrl, ...toTransport(more) })
}

/** A base URL changes where the API is, and never which one is spoken. */
async function openOpenAI({ key = "", baseUrl, organization, project, api = "responses", ...more }: ProviderAccess) {
  const headers = {
    ...more.headers,
    ...(organization && { "OpenAI-Organization": organization }),
    ...(project && { "OpenAI-Project": project }),
  }
  // Servers other than OpenAI's own have dialects of their own in this API.
  if (api === "chat" && baseUrl !== undefined) {
    return openCompatible("openai-compatible", { ...more, key, baseUrl, headers })
  }
  const { createOpenAI } = await import("@ai-sdk/openai")
  const provider = createOpenAI({
    apiKey: key,
    baseURL: baseUrl ?? "https://api.openai.com/v1",
    ...toTransport({ ...more, headers }),
  })
  return (model: string) => (api === "chat" ? provider.chat(model) : provider.responses(model))
}

async function openGoogle({ key = "", baseUrl, ...more }: ProviderAccess) {
  const { createGoogle } = await import("@ai-sdk/google")
  return createGoogle({ apiKey: key, ...(baseUrl && { baseURL: baseUrl }), ...toTransport(more) })
}

/** A third of what an installation would weigh: only who uses Vertex installs it. */
const VERTEX = { name: "@ai-sdk/google-vertex", version: "5", need: "Models of Vertex AI" }

/** Without a key, Google's own credentials count: a service account's file, or the account that is signed in. */
async function openVertex({ key = "", baseUrl, project = "", location = "", ...more }: ProviderAccess) {
  const common = { apiKey: key, project, location, ...(baseUrl && { baseURL: baseUrl }), ...toTransport(more) }
  const { createVertex } = await loadPeer(VERTEX, () => import("@ai-sdk/google-vertex"))
  const gemini = createVertex(common)
  const { createVertexAnthropic } = await import("@ai-sdk/google-vertex/anthropic")
  const { apiKey: _, ...signedIn } = common
  const claude = createVertexAnthropic(signedIn)
  return (model: string): LanguageModelV4 => (model.startsWith("claude") ? claude(model) : gemini(model))
}

async function openCompatible(name: string, { key, baseUrl = "", ...more }: ProviderAccess) {
  const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible")
  const provider = createOpenAICompatible({
    name,
    baseURL: baseUrl,
    includeUsage: true,
    ...(key && { apiKey: key }),
    ...toTransport(more),
  })
  return (model: string) => provider.chatModel(model)
}

function toTransport({ headers, fetch }: Pick<ProviderAccess, "headers" | "fetch">) {
  return { ...(headers && { headers: { ...headers } }), ...(fetch && { fetch }) }
}
