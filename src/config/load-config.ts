import { z } from "zod"
import type { Variables } from "../base/environment.ts"
import { renameKeys, type Spellings } from "../base/rename-keys.ts"
import { evaluateConfigFile, findConfigFile } from "./config-file.ts"
import { type ConfigProblem, toConfigError, toProblems, toUnknownKey } from "./config-problem.ts"
import { type Override, readOverrides } from "./environment.ts"
import { type ConfiguredPlugins, pluginEntrySchema, toConfiguredPlugins } from "./plugin-entry.ts"
import { isSingleValue, keysOf, type SectionSchemas, type SectionValues } from "./section.ts"

export interface LoadConfigOptions<Sections extends SectionSchemas> {
  readonly directory: string
  /** The schemas of all sections besides `plugins`. */
  readonly sections: Sections
  /** True if the person trusts the files of the directory. */
  readonly isTrusted: boolean
  /** By section, other spellings of its keys that are accepted. */
  readonly spellings?: Readonly<Record<string, Spellings>>
  /** Overrides are read from it. Default: none. */
  readonly environment?: Variables
  /** By section, values that replace the schemas' defaults. */
  readonly defaults?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

interface Values<Sections extends SectionSchemas> {
  readonly values: SectionValues<Sections>
  readonly plugins: ConfiguredPlugins
}

/** Values are complete whatever the status: the environment's go before the file's, and the file's before defaults. */
export type LoadedConfig<Sections extends SectionSchemas> = Values<Sections> &
  (
    | { readonly status: "absent" }
    /** The file was not run and nothing of it is used. */
    | { readonly status: "untrusted"; readonly path: string }
    | { readonly status: "loaded"; readonly path: string }
  )

export async function loadConfig<Sections extends SectionSchemas>(
  options: LoadConfigOptions<Sections>,
): Promise<LoadedConfig<Sections>> {
  const { directory, isTrusted } = options
  const file = await findConfigFile(directory)
  if (!file) return { status: "absent", ...readValues("The environment", {}, options) }
  if (!isTrusted) return { status: "untrusted", path: file.path, ...readValues("The environment", {}, options) }
  const raw = await evaluateConfigFile(file)
  return { status: "loaded", path: file.path, ...readValues(file.path, raw, options) }
}

const wholeSchema = z.record(z.string(), z.unknown(), "must be an object")
const pluginsSchema = z.array(pluginEntrySchema, "must be a list").default([])

function readValues<Sections extends SectionSchemas>(
  source: string,
  raw: unknown,
  { sections, spellings = {}, environment = {}, defaults = {} }: LoadConfigOptions<Sections>,
): Values<Sections> {
  const overrides = readOverrides(environment, sections, spellings)
  const problems: ConfigProblem[] = []
  function read<Schema extends z.ZodType>(schema: Schema, value: unknown, at: readonly string[]) {
    const parsed = schema.safeParse(value)
    if (parsed.success) return parsed.data
    const allowedAt = (path: readonly PropertyKey[]) => keysOf(schema, path).map(({ name }) => name)
    problems.push(...toProblems(parsed.error, at, allowedAt, spellings[at[0] ?? ""]))
    return undefined
  }

  const whole = read(wholeSchema, raw, []) ?? {}
  const allowed = ["plugins", ...Object.keys(sections)]
  for (const key of Object.keys(whole)) {
    if (!allowed.includes(key)) problems.push(toUnknownKey([key], allowed, findSections(sections, key)))
  }
  const plugins = read(pluginsSchema, whole["plugins"], ["plugins"]) ?? []
  const values = Object.entries(sections).map(([name, schema]) => {
    const written = renameKeys(whole[name] ?? (isSingleValue(schema) ? undefined : {}), spellings[name] ?? {})
    const ofSection = overrides.filter(({ section }) => section === name)
    const value = withOverrides(withDefaults(written, defaults[name]), ofSection)
    return [name, read(schema, value, [name])] as const
  })
  if (problems.length > 0) throw toConfigError(source, problems, overrides)
  return {
    values: Object.fromEntries(values) as SectionValues<Sections>,
    plugins: toConfiguredPlugins(plugins),
  }
}

/** The sections that have such a key, as `section.key`. */
function findSections(sections: SectionSchemas, key: string): readonly string[] {
  const found = Object.entries(sections).filter(([, schema]) => keysOf(schema).some(({ name }) => name === key))
  return found.map(([section]) => `${section}.${key}`)
}

function withDefaults(value: unknown, defaults: Readonly<Record<string, unknown>> | undefined): unknown {
  if (!defaults || typeof value !== "object" || value === null || Array.isArray(value)) return value
  return { ...defaults, ...value }
}

function withOverrides(value: unknown, overrides: readonly Override[]): unknown {
  const single = overrides.find(({ key }) => key === null)
  if (single) return single.value
  if (overrides.length === 0 || typeof value !== "object" || Array.isArray(value)) return value
  return { ...value, ...Object.fromEntries(overrides.map(({ key, value: override }) => [key, override])) }
}
