import { type ProviderSettings, PROVIDER_NAMES, rowOf } from "./provider-table.ts"

/** The names of all variables that keys of model providers are taken from. */
export function keyVariables(providers: Readonly<Record<string, ProviderSettings>>): ReadonlySet<string> {
  const known = PROVIDER_NAMES.flatMap((name) => rowOf(name).keyVariables)
  const configured = Object.values(providers).flatMap(({ apiKeyEnv }) => (apiKeyEnv ? [apiKeyEnv] : []))
  return new Set([...known, ...configured])
}
