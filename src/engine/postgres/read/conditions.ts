export type Conditions = ReturnType<typeof createConditions>

/** Conditions on rows, as SQL whose values are parameters. */
export function createConditions() {
  const values: unknown[] = []
  const demanded: string[] = []

  /** Makes a value a parameter: `$3`. */
  const bind = (value: unknown): string => `$${values.push(value)}`
  const demand = (condition: string): void => void demanded.push(condition)
  return {
    /** Parameters so far, in the order of their numbers. */
    values: values as readonly unknown[],
    bind,
    demand,
    /** Found through an index that begins with the column. */
    equal(column: string, value: string | number | null | undefined): void {
      if (value === undefined) return
      demand(value === null ? `${column} IS NULL` : `${column} = ${bind(value)}`)
    },
    /** Looked at in rows that were found by other means: no index is chosen for it. */
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

/** Matches texts that begin with a prefix, in a column that is compared byte by byte: no character is larger. */
export function demandPrefix(conditions: Conditions, column: string, prefix: string): void {
  const parameter = conditions.bind(prefix)
  conditions.demand(`${column} >= ${parameter} AND ${column} < ${parameter} || chr(1114111)`)
}

const MOST_ROWS = 2 ** 31 - 1

/** A limit that the server takes; below zero there is none. */
export function toLimit(limit: number): number | null {
  return limit < 0 ? null : Math.min(Math.floor(limit), MOST_ROWS)
}

/** One more than fits the page: whether there is another page. */
export function toPageLimit(limit: number): number {
  return Math.min(limit, MOST_ROWS - 1) + 1
}

/** A place in a numbered list that the server takes, however large or small. */
export function toPlace(after: number): number {
  return Math.min(Math.max(Math.floor(after), 0), Number.MAX_SAFE_INTEGER)
}
