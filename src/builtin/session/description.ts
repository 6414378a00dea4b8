import { stripVTControlCharacters } from "node:util"
import { shorten } from "../../base/shorten.ts"

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
  return shorten(line, LONGEST_DESCRIPTION)
}
