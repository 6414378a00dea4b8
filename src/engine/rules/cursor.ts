import { MeanwhileError } from "../../base/error.ts"

/** Where a page ended. `at` is the time in a list that is ordered by time, else 0; `number` is the row number. */
export interface Position {
  readonly at: number
  readonly number: number
}

export function toCursor({ at, number }: Position): string {
  return `${at}.${number}`
}

export function parseCursor(cursor: string): Position {
  const parts = /^(\d+)\.(\d+)$/.exec(cursor)
  if (!parts)
    throw new MeanwhileError("invalid_input", `"${cursor}" is not a cursor. Pass on the one from the page before.`)
  return { at: Number(parts[1]), number: Number(parts[2]) }
}

export function requirePageLimit(limit: number, items: string): void {
  if (Number.isInteger(limit) && limit >= 1) return
  throw new MeanwhileError("invalid_input", `A page of ${limit} ${items} cannot be read. Ask for 1 or more.`)
}
