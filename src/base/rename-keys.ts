/** Other spellings of keys that are accepted: the spelling, and the key it stands for. */
export type Spellings = Readonly<Record<string, string>>

/** The same object with every other spelling replaced by its key. A key that is given twice keeps both, for a schema to refuse. */
export function renameKeys(value: unknown, spellings: Spellings): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).map(([key, each]) => {
    const name = Object.hasOwn(spellings, key) ? spellings[key] : undefined
    return [name === undefined || Object.hasOwn(value, name) ? key : name, each] as const
  })
  return Object.fromEntries(entries)
}
