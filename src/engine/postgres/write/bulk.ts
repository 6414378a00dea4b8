import type { Query } from "../connection/database.ts"

type Row = Readonly<Record<string, string | number | null>>

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

  /** The types are those of the table's own columns. */
  function from(table: string): string {
    return `FROM json_populate_recordset(NULL::${table}, $1::json)`
  }

  function insertInto(table: string, columns: readonly string[]): string {
    const list = columns.join(", ")
    return `INSERT INTO ${table} (${list}) SELECT ${list} ${from(table)}`
  }

  return {
    insert: (table, columns, rows) => run(rows.length, insertInto(table, columns), [toJson(rows)]),
    upsert(table, columns, key, rows) {
      const replaced = columns.filter((column) => !key.includes(column))
      const set = replaced.map((column) => `${column} = excluded.${column}`).join(", ")
      const text = `${insertInto(table, columns)} ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${set}`
      run(rows.length, text, [toJson(rows)])
    },
    update(table, columns, key, rows, also) {
      const changed = columns.filter((column) => !key.includes(column))
      const assignments = changed.map((column) => `${column} = given.${column}`)
      const set = [...assignments, ...(also === undefined ? [] : [also])].join(", ")
      const where = key.map((column) => `${table}.${column} = given.${column}`).join(" AND ")
      run(rows.length, `UPDATE ${table} SET ${set} ${from(table)} AS given WHERE ${where}`, [toJson(rows)])
    },
    run,
  }
}

/** What is null is left out: so the server reads half as much. */
function toJson(rows: readonly Row[]): string {
  return JSON.stringify(rows.map(withoutNulls))
}

function withoutNulls(row: Row): Row {
  const kept: Record<string, string | number> = {}
  for (const column of Object.keys(row)) {
    const value = row[column]
    if (value !== null && value !== undefined) kept[column] = value
  }
  return kept
}
