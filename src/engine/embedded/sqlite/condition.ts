import type { SQLInputValue } from "node:sqlite"

/** One condition of a query, and the values in it. */
export interface Condition {
  readonly sql: string
  readonly values: readonly SQLInputValue[]
}

export interface Where {
  readonly where: string
  readonly parameters: readonly SQLInputValue[]
}

/** All conditions must hold. Undefined ones are left out. */
export function toWhere(demanded: readonly (Condition | undefined)[]): Where {
  const conditions = demanded.filter((condition) => condition !== undefined)
  return {
    where: conditions.map(({ sql }) => sql).join(" AND ") || "TRUE",
    parameters: conditions.flatMap(({ values }) => values),
  }
}

/** A condition unless the value is undefined. */
export function given(sql: string, value: SQLInputValue | undefined): Condition | undefined {
  return value === undefined ? undefined : { sql, values: [value] }
}

/** A condition that a column has this value, which null is, too; none if the value is undefined. */
export function equal(column: string, value: string | number | null | undefined): Condition | undefined {
  return value === null ? { sql: `${column} IS NULL`, values: [] } : given(`${column} = ?`, value)
}

/** An empty list becomes `IN (NULL)`, which matches nothing: for `IN ()` SQLite may find no plan with the named index. */
export function among(column: string, values: readonly string[] | undefined): Condition | undefined {
  if (!values) return undefined
  const placeholders = values.map(() => "?").join(", ") || "NULL"
  return { sql: `${column} IN (${placeholders})`, values }
}

export function flag(value: boolean | undefined, whenTrue: string, whenFalse?: string): Condition | undefined {
  const sql = value ? whenTrue : whenFalse
  return value === undefined || sql === undefined ? undefined : { sql, values: [] }
}
