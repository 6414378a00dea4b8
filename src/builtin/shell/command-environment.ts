export interface EnvironmentParts {
  readonly environment: Readonly<Record<string, string>>
  /** Looked in after the folders of PATH. */
  readonly extraPaths: readonly string[]
}

/** What the command gets, and all it gets: the plugin's environment, then the call's, then the extra folders. */
export function toCommandEnvironment(
  { environment, extraPaths }: EnvironmentParts,
  ofCall: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const merged = { ...environment, ...ofCall }
  if (extraPaths.length === 0) return merged
  const known = merged["PATH"] ? [merged["PATH"]] : []
  return { ...merged, PATH: [...known, ...extraPaths].join(":") }
}

/**
 * For commands that run unasked. Git takes any folder with the right files for a repository and runs what its `config`
 * names, in every command that only reads too; such files may lie in a project that somebody else wrote. With this it
 * takes only folders with a `.git`, whose content no project brings along.
 */
export function withCautiousGit(environment: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const count = Number(environment["GIT_CONFIG_COUNT"] ?? 0)
  return {
    ...environment,
    GIT_CONFIG_COUNT: String(count + 1),
    [`GIT_CONFIG_KEY_${count}`]: "safe.bareRepository",
    [`GIT_CONFIG_VALUE_${count}`]: "explicit",
  }
}
