import type { Clock } from "../../base/clock.ts"
import { MeanwhileError } from "../../base/error.ts"
import { definePlugin } from "../../plugin/define-plugin.ts"
import type { ModelProviderPlugin } from "../../plugin/model-provider-plugin.ts"
import { type ConnectionOptions, toConnectedModel } from "./connected-model.ts"
import { tapFetch } from "./idle-limit.ts"
import { deserializeHistory, serializeHistory } from "./history.ts"
import {
  PROVIDER_NAMES,
  type ProviderAccess,
  type ProviderSettings,
  type ProvidersSection,
  rowOf,
  settingsOf,
} from "./provider-table.ts"

export interface ModelProvidersOptions {
  /** Where keys are looked for, each time a model is connected. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The configuration's section, as `providersConfigSchema` gives it. */
  readonly providers?: ProvidersSection
  /** Default: the global one. */
  readonly fetch?: typeof globalThis.fetch
  /** The clock that `idleTimeoutSeconds` goes by. Default: the system's. */
  readonly clock?: Clock
}

interface Lookup extends Pick<ModelProvidersOptions, "environment" | "fetch"> {
  readonly settings: ProviderSettings
  readonly patience: ReturnType<typeof toPatience>
}

/** One plugin for each provider that is known by name, and for each further one in the configuration. */
export function createModelProviders(options: ModelProvidersOptions): readonly ModelProviderPlugin[] {
  const { providers = {} } = options
  const settings = settingsOf(providers)
  const patience = toPatience(providers, options.clock)
  const names = new Set([...PROVIDER_NAMES, ...Object.keys(settings)])
  return [...names].map((name) => createModelProvider(name, { ...options, settings: settings[name] ?? {}, patience }))
}

/** How long the section lets a provider say nothing, for `toConnectedModel`. */
export function toPatience(
  { idleTimeoutSeconds }: ProvidersSection,
  clock: Clock | undefined,
): Pick<ConnectionOptions, "idleTimeoutMs" | "clock"> {
  const isTime = idleTimeoutSeconds === undefined || idleTimeoutSeconds > 0
  if (!isTime) {
    const message = `providers.idleTimeoutSeconds must be a number of seconds above 0, not ${idleTimeoutSeconds}.`
    throw new MeanwhileError("invalid_input", message, { option: "providers.idleTimeoutSeconds" })
  }
  return {
    ...(idleTimeoutSeconds !== undefined && { idleTimeoutMs: idleTimeoutSeconds * 1_000 }),
    ...(clock && { clock }),
  }
}

function createModelProvider(name: string, lookup: Lookup): ModelProviderPlugin {
  return definePlugin({
    kind: "model_provider",
    name,
    async connect(model: string) {
      const id = `${name}/${model}`
      if (model.trim() === "") throw new MeanwhileError("unknown_model", `"${id}" names no model. Write ${name}/MODEL.`)
      const access = toAccess(name, lookup)
      const missing = findMissing(name, access, lookup)
      if (missing) throw missing
      const open = await rowOf(name).open(access)
      return toConnectedModel(id, open(model), { secrets: secretsOf(access), ...lookup.patience })
    },
    isConfigured: () => hasSettings(name, lookup) && hasAll(name, lookup),
    serializeHistory,
    deserializeHistory,
  })
}

/** A server that needs no key counts as wanted once it is named: in the configuration, or by its variable. */
function hasSettings(name: string, { environment, settings }: Lookup): boolean {
  if (rowOf(name).needs !== "nothing") return true
  return Object.keys(settings).length > 0 || (name === "ollama" && Boolean(environment["OLLAMA_HOST"]))
}

/** False also if a variable holds no URL, which the first call refuses. */
function hasAll(name: string, lookup: Lookup): boolean {
  try {
    return !findMissing(name, toAccess(name, lookup), lookup)
  } catch {
    return false
  }
}

function toAccess(name: string, { environment, settings, fetch }: Lookup): ProviderAccess {
  const { apiKeyEnv: _, ...given } = settings
  const read = (...variables: readonly string[]) =>
    variables.map((variable) => environment[variable]?.trim()).find(Boolean)
  const key = read(...keyVariablesOf(name, settings))
  const access = { ...given, fetch: tapFetch(fetch), key, baseUrl: given.baseUrl ?? readBaseUrl(name, environment) }
  if (name === "ollama") return { ...access, baseUrl: given.baseUrl ?? toOllamaUrl(read("OLLAMA_HOST")) }
  if (name !== "vertex") return access
  return {
    ...access,
    project: given.project ?? read("GOOGLE_VERTEX_PROJECT", "GOOGLE_CLOUD_PROJECT"),
    location: given.location ?? read("GOOGLE_VERTEX_LOCATION"),
  }
}

/** The URL in the provider's own variable, with the version that the provider's SDKs add to it. */
function readBaseUrl(name: string, environment: Lookup["environment"]): string | undefined {
  const { baseUrlVariables = [], apiVersion } = rowOf(name)
  const variable = baseUrlVariables.find((each) => environment[each]?.trim())
  if (variable === undefined) return undefined
  const url = URL.parse(environment[variable]?.trim() ?? "")
  if (!url || !["http:", "https:"].includes(url.protocol)) {
    const message = `${variable} is no http or https URL. Set it to one, or unset it.`
    throw new MeanwhileError("invalid_input", message, { provider: name, variable })
  }
  const path = url.pathname.replace(/\/+$/, "")
  url.pathname = apiVersion === undefined || /\/v\d\w*$/.test(path) ? path : `${path}/${apiVersion}`
  return url.href.replace(/\/+$/, "")
}

/** Redacts each word of a header too, since its scheme may be left out: at worst a harmless word is redacted. */
function secretsOf({ key, headers = {}, baseUrl = "" }: ProviderAccess): readonly string[] {
  const { username = "", password = "", searchParams } = URL.parse(baseUrl) ?? {}
  const given = [key ?? "", ...Object.values(headers), username, password, ...(searchParams?.values() ?? [])]
  return given.flatMap((value) => [value, ...value.split(/\s+/)]).filter((value) => value !== "")
}

function keyVariablesOf(name: string, { apiKeyEnv }: ProviderSettings): readonly string[] {
  return apiKeyEnv === undefined ? rowOf(name).keyVariables : [apiKeyEnv]
}

function findMissing(name: string, access: ProviderAccess, { settings }: Lookup): MeanwhileError | undefined {
  const { needs } = rowOf(name)
  const variables = keyVariablesOf(name, settings)
  if (access.key !== undefined) return findBadKey(name, access.key, variables)
  if (needs === "project") {
    if (!access.project) return toMissing(name, "project", ["GOOGLE_VERTEX_PROJECT"], `providers.${name}.project`)
    if (!access.location) return toMissing(name, "location", ["GOOGLE_VERTEX_LOCATION"], `providers.${name}.location`)
  }
  const isOwnServer = name === "openai" && access.baseUrl !== undefined
  const isKeyNeeded = (needs === "key" && !isOwnServer) || settings.apiKeyEnv !== undefined
  return isKeyNeeded ? toMissing(name, "key", variables) : undefined
}

/** Refuses a key that cannot be a header: the error of the header would quote the key. */
function findBadKey(name: string, key: string, variables: readonly string[]): MeanwhileError | undefined {
  if (/^[\x21-\x7e]+$/.test(key)) return undefined
  const message = `The key of ${name} has characters that no key has, such as spaces. Set ${variables.join(" or ")} anew.`
  return new MeanwhileError("key_refused", message, { provider: name })
}

function toMissing(name: string, what: string, variables: readonly string[], setting?: string): MeanwhileError {
  const places = `the environment variable ${variables.join(" or ")}${setting ? `, or ${setting} in the configuration` : ""}`
  const message = `There is no ${what} for ${name}. Set ${places}, or use another model.`
  return new MeanwhileError("key_missing", message, { provider: name, variables })
}

const DEFAULT_URL = "http://127.0.0.1:11434/v1"

/** `OLLAMA_HOST` as Ollama itself reads it: a host, with or without scheme and port. */
export function toOllamaUrl(host: string | undefined): string {
  if (!host) return DEFAULT_URL
  const url = URL.parse(host.includes("://") ? host : `http://${host.startsWith(":") ? `127.0.0.1${host}` : host}`)
  if (!url) return DEFAULT_URL
  const isPlain = !host.includes("://")
  if (url.port === "" && isPlain) url.port = "11434"
  if (url.hostname === "0.0.0.0") url.hostname = "127.0.0.1"
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}/v1`
}
