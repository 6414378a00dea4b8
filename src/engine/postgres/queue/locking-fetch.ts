import { MeanwhileError } from "../../../base/error.ts"

/** A statement and its values. */
export interface LockingFetch {
  readonly text: string
  readonly values: readonly unknown[]
}

/** pg-boss chooses tickets and locks them, and then writes on each who has it. */
const CHOICE = /^([^]*\bnext AS \([^]*? LIMIT )(\d+)(\s+FOR UPDATE OF j SKIP LOCKED\s*\))\s*UPDATE [^]*$/

/**
 * Of the statement with which pg-boss fetches tickets, what chooses and locks them. Nothing is written on them: when the
 * transaction ends, those that it has not removed are where they were. How many there may be is a value, so that the text
 * comes again.
 */
export function toLockingFetch(fetch: string, values: readonly unknown[] = []): LockingFetch {
  const [, choice, limit, lock] = CHOICE.exec(fetch) ?? []
  if (choice === undefined || limit === undefined || lock === undefined)
    throw new MeanwhileError(
      "store_unavailable",
      "This pg-boss fetches in a way that is not known. Install the version of pg-boss that Meanwhile asks for.",
    )
  return {
    text: `${choice}$${values.length + 1}::bigint${lock} SELECT id, NULL::integer AS "retryCount" FROM next`,
    values: [...values, Number(limit)],
  }
}
