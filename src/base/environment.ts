/** Environment variables in the shape of `process.env`. */
export type Variables = Readonly<Record<string, string | undefined>>

/** The variables that have a value. */
export function definedVariables(variables: Variables): Record<string, string> {
  return Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}
