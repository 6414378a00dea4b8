const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g

/** Replaces `${NAME}` and `${NAME:-default}` in every text of a JSON value. A variable nobody has set is a problem. */
export function expandVariables(
  value: unknown,
  environment: Readonly<Record<string, string | undefined>>,
  toError: (problem: string) => Error,
  path: readonly string[],
): unknown {
  if (typeof value === "string") {
    return value.replace(VARIABLE, (_, name: string, fallback: string | undefined) => {
      const found = environment[name]
      if (found !== undefined && (found !== "" || fallback === undefined)) return found
      if (fallback !== undefined) return fallback
      const fix = `Set it, or give a default: \${${name}:-…}`
      throw toError(`${path.join(".")}: the environment variable ${name} is not set. ${fix}`)
    })
  }
  if (Array.isArray(value)) {
    return value.map((item, index) => expandVariables(item, environment, toError, [...path, String(index)]))
  }
  if (typeof value !== "object" || value === null) return value
  const entries = Object.entries(value).map(([key, item]): [string, unknown] => [
    key,
    expandVariables(item, environment, toError, [...path, key]),
  ])
  return Object.fromEntries(entries)
}
