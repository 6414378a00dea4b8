import type { z } from "zod"
import type { Variables } from "../base/environment.ts"
import { MeanwhileError } from "../base/error.ts"
import { findNearNames } from "../base/near-name.ts"
import type { Spellings } from "../base/rename-keys.ts"
import { isSingleValue, keysOf, type SectionKey, type SectionSchemas } from "./section.ts"

/** A value that an environment variable sets, over what the file says. */
export interface Override {
  readonly variable: string
  readonly section: string
  /** Null: the whole section, which is a single value. */
  readonly key: string | null
  readonly value: unknown
}

/**
 * `MEANWHILE_BACKGROUND_MAX_CONCURRENT_TASKS=20` sets `background.maxConcurrentTasks`, `MEANWHILE_ENGINE` the
 * single value `engine`. An empty variable sets nothing.
 */
export function readOverrides(
  environment: Variables,
  sections: SectionSchemas,
  spellings: Readonly<Record<string, Spellings>> = {},
): readonly Override[] {
  return Object.entries(sections).flatMap(([section, schema]) => {
    const whole = `MEANWHILE_${toConstantCase(section)}`
    const value = environment[whole]
    const single =
      value && isSingleValue(schema)
        ? [{ variable: whole, section, key: null, value: toValue({ isText: !isList(schema) }, value) }]
        : []
    const prefix = `${whole}_`
    const set = Object.entries(environment).filter(([variable, text]) => variable.startsWith(prefix) && text)
    if (set.length === 0) return single
    const toVariable = (name: string): string => `${prefix}${toConstantCase(name)}`
    const keys = new Map(keysOf(schema).map((key) => [toVariable(key.name), key]))
    const spelled = new Map(
      Object.entries(spellings[section] ?? {}).map(([spelling, name]) => [toVariable(spelling), toVariable(name)]),
    )
    const overrides = set.map(([variable, text = ""]) => {
      const key = keys.get(spelled.get(variable) ?? variable)
      if (!key) throw toUnknownVariable(variable, isSingleValue(schema) ? [whole] : findNear(variable, keys, prefix))
      return { variable, section, key: key.name, value: toValue(key, text) }
    })
    return [...single, ...overrides]
  })
}

function isList(schema: z.ZodType): boolean {
  return Array.isArray(schema.safeParse(undefined).data)
}

function toConstantCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase()
}

/** JSON where it is JSON, so that numbers, true, false, null and lists can be written; else the text itself. */
function toValue({ isText }: Pick<SectionKey, "isText">, text: string): unknown {
  if (isText) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** The prefix that all share is left out: it would make every name near. */
function findNear(variable: string, keys: ReadonlyMap<string, unknown>, prefix: string): readonly string[] {
  const names = [...keys.keys()].map((name) => name.slice(prefix.length))
  return findNearNames(variable.slice(prefix.length), names).map((name) => `${prefix}${name}`)
}

function toUnknownVariable(variable: string, near: readonly string[]): MeanwhileError {
  const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "Remove it."
  return new MeanwhileError("invalid_input", `The environment variable ${variable} sets nothing. ${hint}`, { variable })
}
