import { MeanwhileError } from "../base/error.ts"
import { findNearNames } from "../base/near-name.ts"
import { keysOf, type SectionKey, type SectionSchemas } from "./section.ts"

export type Environment = Readonly<Record<string, string | undefined>>

/** A value that an environment variable sets, over what the file says. */
export interface Override {
  readonly variable: string
  readonly section: string
  readonly key: string
  readonly value: unknown
}

/** `MEANWHILE_BACKGROUND_MAX_CONCURRENT_TASKS=20` sets `background.maxConcurrentTasks`. An empty variable sets nothing. */
export function readOverrides(environment: Environment, sections: SectionSchemas): readonly Override[] {
  return Object.entries(sections).flatMap(([section, schema]) => {
    const prefix = `MEANWHILE_${toConstantCase(section)}_`
    const set = Object.entries(environment).filter(([variable, text]) => variable.startsWith(prefix) && text)
    if (set.length === 0) return []
    const keys = new Map(keysOf(schema).map((key) => [`${prefix}${toConstantCase(key.name)}`, key]))
    return set.map(([variable, text = ""]) => {
      const key = keys.get(variable)
      if (!key) throw toUnknownVariable(variable, keys.keys())
      return { variable, section, key: key.name, value: toValue(key, text) }
    })
  })
}

function toConstantCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase()
}

/** JSON where it is JSON, so that numbers, true, false, null and lists can be written; else the text itself. */
function toValue({ isText }: SectionKey, text: string): unknown {
  if (isText) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

function toUnknownVariable(variable: string, known: Iterable<string>): MeanwhileError {
  const near = findNearNames(variable, known)
  const hint = near.length > 0 ? `Did you mean ${near.join(" or ")}?` : "Remove it."
  return new MeanwhileError("invalid_input", `The environment variable ${variable} sets nothing. ${hint}`, { variable })
}
