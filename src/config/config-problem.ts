import type { z } from "zod"
import { MeanwhileError } from "../base/error.ts"
import { findNearNames } from "../base/near-name.ts"
import { describeTwoSpellings, type Spellings } from "../base/rename-keys.ts"
import type { Override } from "./environment.ts"
import { MCP_FILE } from "./folder-contents.ts"

/** Other programs have MCP servers among their settings. */
const MCP_KEYS: ReadonlySet<string> = new Set(["mcp", "mcpServers"])
const MCP_HINT = `MCP servers are listed in ${MCP_FILE} beside this file. `

/** Something the configuration says that makes no sense, and where. */
export interface ConfigProblem {
  readonly path: readonly PropertyKey[]
  readonly message: string
  /** True if it must be a list, which a variable gives as JSON. */
  readonly isList?: true
}

export function toProblems(
  error: z.ZodError,
  at: readonly PropertyKey[],
  allowedAt: (path: readonly PropertyKey[]) => readonly string[],
  spellings: Spellings = {},
): readonly ConfigProblem[] {
  return error.issues.flatMap((issue): readonly ConfigProblem[] => {
    const path = [...at, ...issue.path]
    if (issue.code !== "unrecognized_keys") return [describeIssue(issue, path)]
    return issue.keys.map((key) => {
      const name = issue.path.length === 0 && Object.hasOwn(spellings, key) ? spellings[key] : undefined
      // Another spelling without the key itself was renamed before this check.
      if (name !== undefined) return { path: [...path, key], message: describeTwoSpellings(key, name) }
      return toUnknownKey([...path, key], allowedAt(issue.path))
    })
  })
}

/** `elsewhere`: the places where a key of that name is allowed. */
export function toUnknownKey(
  path: readonly PropertyKey[],
  allowed: readonly string[],
  elsewhere: readonly string[] = [],
): ConfigProblem {
  const key = String(path.at(-1))
  const near = elsewhere.length > 0 ? elsewhere : findNearNames(key, allowed)
  const hint = MCP_KEYS.has(key) ? MCP_HINT : near.length > 0 ? `Did you mean ${near.join(" or ")}? ` : ""
  return { path, message: `there is no such key. ${hint}Allowed here: ${allowed.toSorted().join(", ")}.` }
}

/** Names the file, or the variable, and every key that is wrong. */
export function toConfigError(
  source: string,
  problems: readonly ConfigProblem[],
  overrides: readonly Override[],
): MeanwhileError {
  const lines = problems.map(({ path, message, isList }) => {
    const override = overrides.find(({ section, key }) => path[0] === section && (path[1] ?? null) === key)
    const from = override ? ` (set by the environment variable ${override.variable})` : ""
    if (path.length === 0) return `  it ${message}`
    const asJson = override && isList ? `, as JSON: ${toJsonList(override.value)}` : ""
    return `  ${toKey(path)}${from}: ${message}${asJson}`
  })
  return new MeanwhileError("invalid_input", `${source} is not valid:\n${lines.join("\n")}`, {
    problems: problems.map(({ path, message }) => ({ key: toKey(path), message })),
  })
}

function toKey(path: readonly PropertyKey[]): string {
  return path.length === 0 ? "the whole" : path.map(String).join(".")
}

/** `agent,tool` as the list that was meant. */
function toJsonList(value: unknown): string {
  return JSON.stringify(typeof value === "string" ? value.split(",").map((entry) => entry.trim()) : [value])
}

/** Words for what JSON holds. */
const NOUNS: Readonly<Record<string, string>> = {
  array: "a list",
  boolean: "true or false",
  int: "a whole number",
  null: "null",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "a text",
}

/** In plain words, unless the schema has words of its own. */
function describeIssue(issue: z.core.$ZodIssue, path: readonly PropertyKey[]): ConfigProblem {
  const { message } = issue
  if (!/^(?:Invalid (?:input|option)|Too (?:small|big))\b/.test(message)) return { path, message }
  switch (issue.code) {
    case "invalid_type": {
      const noun = NOUNS[issue.expected]
      if (noun === undefined) return { path, message }
      if (message.endsWith("received undefined")) return { path, message: `is missing; it must be ${noun}` }
      return { path, message: `must be ${noun}`, ...(issue.expected === "array" && { isList: true }) }
    }
    case "invalid_value":
      return { path, message: `must be ${listValues(issue.values)}` }
    case "too_small":
      return { path, message: describeBound(issue, Number(issue.minimum), issue.inclusive ? "at least" : "above") }
    case "too_big":
      return { path, message: describeBound(issue, Number(issue.maximum), issue.inclusive ? "at most" : "below") }
    default:
      return { path, message }
  }
}

function describeBound({ origin }: { readonly origin: string }, bound: number, word: string): string {
  const isEmpty = bound === 1 && word === "at least"
  if (origin === "array") return isEmpty ? "must not be empty" : `must have ${word} ${bound} entries`
  if (origin === "string") return isEmpty ? "must not be empty" : `must have ${word} ${bound} characters`
  return `must be ${word} ${bound}`
}

function listValues(values: readonly unknown[]): string {
  const shown = values.map((value) => (typeof value === "bigint" ? String(value) : JSON.stringify(value)))
  return shown.length > 1 ? `one of ${shown.join(", ")}` : String(shown[0])
}
