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
}

export function toProblems(
  error: z.ZodError,
  at: readonly PropertyKey[],
  allowedAt: (path: readonly PropertyKey[]) => readonly string[],
  spellings: Spellings = {},
): readonly ConfigProblem[] {
  return error.issues.flatMap((issue): readonly ConfigProblem[] => {
    const path = [...at, ...issue.path]
    if (issue.code !== "unrecognized_keys") return [{ path, message: issue.message }]
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
  const lines = problems.map(({ path, message }) => {
    const override = overrides.find(({ section, key }) => path[0] === section && (path[1] ?? null) === key)
    const from = override ? ` (set by the environment variable ${override.variable})` : ""
    return `  ${toKey(path)}${from}: ${message}`
  })
  return new MeanwhileError("invalid_input", `${source} is not valid:\n${lines.join("\n")}`, {
    problems: problems.map(({ path, message }) => ({ key: toKey(path), message })),
  })
}

function toKey(path: readonly PropertyKey[]): string {
  return path.length === 0 ? "the whole" : path.map(String).join(".")
}
