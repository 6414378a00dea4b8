import type { SQLInputValue } from "node:sqlite"

/** A part of what a query demands, and the values in it. */
export interface Condition {
  readonly sql: string
  readonly values: readonly SQLInputValue[]
}

export interface Where {
  readonly where: string
  readonly parameters: readonly SQLInputValue[]
}

/** All that is demanded must hold. */
export function toWhere(demanded: readonly (Condition | undefined)[]): Where {
  const conditions = demanded.filter((condition) => condition !== undefined)
  return {
    where: conditions.map(({ sql }) => sql).join(" AND ") || "TRUE",
    parameters: conditions.flatMap(({ values }) => values),
  }
}

/** Demanded unless the value is undefined. */
export function given(sql: string, value: SQLInputValue | undefined): Condition | undefined {
  return value === undefined ? undefined : { sql, values: [value] }
}

/** The same for the value of a column, which null is, too. */
export function equal(column: string, value: string | number | null | undefined): Condition | undefined {
  return value === null ? { sql: `${column} IS NULL`, values: [] } : given(`${column} = ?`, value)
}

/** Among no values is nothing, as nothing equals NULL: of an empty list SQLite may find no plan with the index that is named. */
export function among(column: string, values: readonly string[] | undefined): Condition | undefined {
  if (!values) return undefined
  const placeholders = values.map(() => "?").join(", ") || "NULL"
  return { sql: `${column} IN (${placeholders})`, values }
}

export function flag(value: boolean | undefined, whenTrue: string, whenFalse?: string): Condition | undefined {
  const sql = value ? whenTrue : whenFalse
  return value === undefined || sql === undefined ? undefined : { sql, values: [] }
}
