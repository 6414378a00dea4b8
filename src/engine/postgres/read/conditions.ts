export type Conditions = ReturnType<typeof createConditions>

/** Conditions on rows, as SQL whose values are parameters. */
export function createConditions() {
  const values: unknown[] = []
  const demanded: string[] = []

  /** Adds a value and returns its parameter, such as `$3`. */
  const bind = (value: unknown): string => `$${values.push(value)}`
  const demand = (condition: string): void => void demanded.push(condition)
  return {
    /** Parameters so far, in the order of their numbers. */
    values: values as readonly unknown[],
    bind,
    demand,
    /** Lets the server find the rows through an index that begins with the column. */
    equal(column: string, value: string | number | null | undefined): void {
      if (value === undefined) return
      demand(value === null ? `${column} IS NULL` : `${column} = ${bind(value)}`)
    },
    /** Checks rows that are found by other conditions: the server chooses no index for this one. */
    match(column: string, value: string | number | null | undefined): void {
      if (value === undefined) return
      demand(value === null ? `${column} IS NULL` : `${column} IS NOT DISTINCT FROM ${bind(value)}`)
    },
    among(column: string, given: readonly string[] | undefined): void {
      if (given) demand(`${column} = ANY (${bind(given)}::text[])`)
    },
    /** ` WHERE …`, or nothing. */
    where: (): string => (demanded.length > 0 ? ` WHERE ${demanded.join(" AND ")}` : ""),
  }
}

/**
 * Demands texts that begin with a prefix, in a column that is compared byte by byte. No character is larger than
 * 1114111.
 */
export function demandPrefix(conditions: Conditions, column: string, prefix: string): void {
  const parameter = conditions.bind(prefix)
  conditions.demand(`${column} >= ${parameter} AND ${column} < ${parameter} || chr(1114111)`)
}

const MOST_ROWS = 2 ** 31 - 1

/** A limit that the server accepts; null, which is no limit, for one below zero. */
export function toLimit(limit: number): number | null {
  return limit < 0 ? null : Math.min(Math.floor(limit), MOST_ROWS)
}

/** One more than the page holds, to find out whether there is another page. */
export function toPageLimit(limit: number): number {
  return Math.min(limit, MOST_ROWS - 1) + 1
}

/** A place in a numbered list that the server accepts, however large or small it was. */
export function toPlace(after: number): number {
  return Math.min(Math.max(Math.floor(after), 0), Number.MAX_SAFE_INTEGER)
}
