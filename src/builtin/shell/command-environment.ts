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
