import type { Query } from "../connection/database.ts"
import { type Row, toRowSource } from "./row-source.ts"

/**
 * Statements of a transaction that write many rows at once, sent one behind the other. Nobody waits for their answers: the
 * transaction is refused when one of them fails. Where there are no rows, none is sent. Columns are named: those that a newer schema adds keep their defaults.
 */
export interface Bulk {
  insert(table: string, columns: readonly string[], rows: readonly Row[]): void
  /** Rows whose key is there already are replaced. */
  upsert(table: string, columns: readonly string[], key: readonly string[], rows: readonly Row[]): void
  /** `also`: an assignment that is the same for all. */
  update(table: string, columns: readonly string[], key: readonly string[], rows: readonly Row[], also?: string): void
  /** Any other statement, unless `count` is 0. */
  run(count: number, text: string, values: readonly unknown[]): void
}

export function createBulk(query: Query): Bulk {
  function run(count: number, text: string, values: readonly unknown[]): void {
    if (count === 0) return
    query(text, values).catch(() => {})
  }

  function insert(table: string, columns: readonly string[], rows: readonly Row[], onConflict = ""): void {
    if (rows.length === 0) return
    const { from, valueOf, values } = toRowSource(columns, rows)
    const selected = columns.map(valueOf).join(", ")
    const source = from === undefined ? `VALUES (${selected})` : `SELECT ${selected} FROM ${from}`
    run(rows.length, `INSERT INTO ${table} (${columns.join(", ")}) ${source}${onConflict}`, values)
  }

  return {
    insert: (table, columns, rows) => insert(table, columns, rows),
    upsert(table, columns, key, rows) {
      const replaced = columns.filter((column) => !key.includes(column))
      const set = replaced.map((column) => `${column} = excluded.${column}`).join(", ")
      insert(table, columns, rows, ` ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${set}`)
    },
    update(table, columns, key, rows, also) {
      if (rows.length === 0) return
      const { from, valueOf, values } = toRowSource([...new Set([...key, ...columns])], rows)
      const changed = columns.filter((column) => !key.includes(column))
      const assignments = changed.map((column) => `${column} = ${valueOf(column)}`)
      const set = [...assignments, ...(also === undefined ? [] : [also])].join(", ")
      const where = key.map((column) => `${table}.${column} = ${valueOf(column)}`).join(" AND ")
      const source = from === undefined ? "" : ` FROM ${from}`
      run(rows.length, `UPDATE ${table} SET ${set}${source} WHERE ${where}`, values)
    },
    run,
  }
}
