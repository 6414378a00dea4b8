import { MeanwhileError } from "./error.ts"

/** Accepted spellings, each with the key that it stands for. */
export type Spellings = Readonly<Record<string, string>>

/** Says what to do about a key that is given in two spellings. */
export function describeTwoSpellings(spelling: string, key: string): string {
  return `${spelling} and ${key} are two spellings of the same key. Delete ${spelling}, and keep ${key}.`
}

/** Throws `invalid_input` if a key is given in two spellings. */
export function requireOneSpelling(value: object, spellings: Spellings): void {
  const double = Object.entries(spellings).find(([spelling, key]) => spelling in value && key in value)
  if (double) throw new MeanwhileError("invalid_input", describeTwoSpellings(...double))
}

/** Throws `invalid_input` if an option is given by the name that it had before. */
export function refuseFormerName(options: object, former: string, name: string): void {
  if (!(former in options)) return
  throw new MeanwhileError("invalid_input", `The option ${former} is called ${name}.`, { option: former })
}

/** Replaces every accepted spelling by its key. A key given in both spellings keeps both, for a schema to refuse. */
export function renameKeys(value: unknown, spellings: Spellings): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).map(([key, each]) => {
    const name = Object.hasOwn(spellings, key) ? spellings[key] : undefined
    return [name === undefined || Object.hasOwn(value, name) ? key : name, each] as const
  })
  return Object.fromEntries(entries)
}
