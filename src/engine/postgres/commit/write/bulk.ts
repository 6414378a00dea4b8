import type { Query } from "../../connection/database.ts"
import { type Column, toRowSource } from "./row-source.ts"

/**
 * Statements of a transaction that write many rows at once, sent one behind the other. Nobody waits for their answers: the
 * transaction is refused when one of them fails. Where there are no rows, none is sent. Columns are named: those that a newer
 * schema adds keep their defaults.
 */
export interface Bulk {
  insert(table: string, columns: readonly Column[]): void
  /** Rows whose key is there already are replaced. */
  upsert(table: string, columns: readonly Column[], key: readonly string[]): void
  /** The key is among the columns. `also`: an assignment that is the same for all. */
  update(table: string, columns: readonly Column[], key: readonly string[], also?: string): void
  /** Any other statement, unless `count` is 0. */
  run(count: number, text: string, values: readonly unknown[]): void
}

export function createBulk(query: Query): Bulk {
  function run(count: number, text: string, values: readonly unknown[]): void {
    if (count === 0) return
    query(text, values).catch(() => {})
  }

  function insert(table: string, columns: readonly Column[], onConflict = ""): void {
    const count = countRows(columns)
    if (count === 0) return
    const { from, valueOf, values } = toRowSource(columns)
    const names = columns.map(({ name }) => name)
    const selected = names.map(valueOf).join(", ")
    const source = from === undefined ? `VALUES (${selected})` : `SELECT ${selected} FROM ${from}`
    run(count, `INSERT INTO ${table} (${names.join(", ")}) ${source}${onConflict}`, values)
  }

  return {
    insert: (table, columns) => insert(table, columns),
    upsert(table, columns, key) {
      const replaced = columns.filter(({ name }) => !key.includes(name))
      const set = replaced.map(({ name }) => `${name} = excluded.${name}`).join(", ")
      insert(table, columns, ` ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${set}`)
    },
    update(table, columns, key, also) {
      const count = countRows(columns)
      if (count === 0) return
      const { from, valueOf, values } = toRowSource(columns)
      const changed = columns.filter(({ name }) => !key.includes(name))
      const assignments = changed.map(({ name }) => `${name} = ${valueOf(name)}`)
      const set = [...assignments, ...(also === undefined ? [] : [also])].join(", ")
      const where = key.map((column) => `${table}.${column} = ${valueOf(column)}`).join(" AND ")
      const source = from === undefined ? "" : ` FROM ${from}`
      run(count, `UPDATE ${table} SET ${set}${source} WHERE ${where}`, values)
    },
    run,
  }
}

function countRows(columns: readonly Column[]): number {
  return columns[0]?.values.length ?? 0
}
