import { stripVTControlCharacters } from "node:util"

const LONGEST_DESCRIPTION = 120

/**
 * A description is data, from a model or a person: one line without control characters, at most 120 characters. May be
 * empty.
 */
export function toDescription(text: string): string {
  const line = stripVTControlCharacters(text)
    .toWellFormed()
    .replaceAll(/\p{Cf}/gu, "")
    .replaceAll(/[\p{Cc}\s]+/gu, " ")
    .trim()
  if (line.length <= LONGEST_DESCRIPTION) return line
  const head = line.slice(0, LONGEST_DESCRIPTION - 1).replace(/[\uD800-\uDBFF]$/, "")
  return `${head.trimEnd()}…`
}
