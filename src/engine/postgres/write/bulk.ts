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

  function insert(table: string, columns: readonly string[], rows: readonly Row[], onConflict = ""): void {
    const [first] = rows
    if (!first) return
    const { from, valueOf, values } = toSource(table, columns, rows, first)
    const selected = columns.map(valueOf).join(", ")
    run(
      rows.length,
      `INSERT INTO ${table} (${columns.join(", ")}) SELECT ${selected} FROM ${from}${onConflict}`,
      values,
    )
  }

  return {
    insert: (table, columns, rows) => insert(table, columns, rows),
    upsert(table, columns, key, rows) {
      const replaced = columns.filter((column) => !key.includes(column))
      const set = replaced.map((column) => `${column} = excluded.${column}`).join(", ")
      insert(table, columns, rows, ` ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${set}`)
    },
    update(table, columns, key, rows, also) {
      const [first] = rows
      if (!first) return
      const { from, valueOf, values } = toSource(table, [...new Set([...key, ...columns])], rows, first)
      const changed = columns.filter((column) => !key.includes(column))
      const assignments = changed.map((column) => `${column} = ${valueOf(column)}`)
      const set = [...assignments, ...(also === undefined ? [] : [also])].join(", ")
      const where = key.map((column) => `${table}.${column} = ${valueOf(column)}`).join(" AND ")
      run(rows.length, `UPDATE ${table} SET ${set} FROM ${from} WHERE ${where}`, values)
    },
    run,
  }
}

/** The rows as the server gets them. */
interface Source {
  readonly from: string
  valueOf(column: string): string
  readonly values: readonly string[]
}

/**
 * The types are those of the table's own columns. What is the same in all rows is sent and read once: of a hundred tasks
 * that begin or end together most columns are.
 */
function toSource(table: string, columns: readonly string[], rows: readonly Row[], first: Row): Source {
  const isShared = (column: string): boolean => rows.length > 1 && rows.every((row) => row[column] === first[column])
  const shared = new Set(columns.filter(isShared))
  const own = columns.filter((column) => !shared.has(column))
  const given = `json_populate_recordset(NULL::${table}, $1::json) AS given`
  const values = [JSON.stringify(rows.map((row) => pick(row, own)))]
  if (shared.size === 0) return { from: given, valueOf: (column) => `given.${column}`, values }
  return {
    from: `${given}, json_populate_record(NULL::${table}, $2::json) AS shared`,
    valueOf: (column) => `${shared.has(column) ? "shared" : "given"}.${column}`,
    values: [...values, JSON.stringify(pick(first, shared))],
  }
}

/** What is null is left out: the server reads it as null. */
function pick(row: Row, columns: Iterable<string>): Row {
  const picked: Record<string, string | number> = {}
  for (const column of columns) {
    const value = row[column]
    if (value !== null && value !== undefined) picked[column] = value
  }
  return picked
}
