import type { Changed, SortedChanges } from "../working-set/memory.ts"

/** A statement with its values, ready to be sent. */
export interface Built {
  readonly text: string
  readonly values: readonly unknown[]
}

export type Bulk = ReturnType<typeof createBulk>

/**
 * Builds statements that write many rows at once, and adds them to `statements`. All are built before the first is
 * sent, so that a value that cannot be stored is found while nothing has happened. Without rows there is no statement.
 * Columns are named, so that those that a newer schema adds get their defaults.
 */
export function createBulk(statements: Built[]) {
  /** Any other statement, unless `count` is 0. */
  function run(count: number, text: string, values: readonly unknown[]): void {
    if (count > 0) statements.push({ text, values })
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

  /** The key is among the columns. `also`: an assignment that is the same for all rows. */
  function update(table: string, columns: readonly Column[], key: readonly string[], also?: string): void {
    const count = countRows(columns)
    if (count === 0) return
    const { from, valueOf, values } = toRowSource(columns)
    const changed = columns.filter(({ name }) => !key.includes(name))
    const assignments = changed.map(({ name }) => `${name} = ${valueOf(name)}`)
    const set = [...assignments, ...(also === undefined ? [] : [also])].join(", ")
    const where = key.map((column) => `${table}.${column} = ${valueOf(column)}`).join(" AND ")
    const source = from === undefined ? "" : ` FROM ${from}`
    run(count, `UPDATE ${table} SET ${set}${source} WHERE ${where}`, values)
  }

  return {
    insert: (table: string, columns: readonly Column[]) => insert(table, columns),
    update,
    /** Inserts new rows and updates changed ones. `also`: an assignment that is the same for all changed rows. */
    save<Value>(
      table: string,
      { made, changed }: SortedChanges<Value>,
      toColumns: (row: Value) => Row,
      key: readonly string[],
      also?: string,
    ): void {
      insert(table, columnsOf(made.map(toColumns)))
      update(table, columnsOf(changed.map(({ after }) => toColumns(after))), key, also)
    },
    /** Inserts rows. A row whose key exists already is replaced. */
    put<Value>(
      table: string,
      changes: readonly Changed<Value>[],
      toColumns: (row: Value) => Row,
      key: readonly string[],
    ): void {
      const columns = columnsOf(changes.flatMap(({ after }) => (after === undefined ? [] : [toColumns(after)])))
      const replaced = columns.filter(({ name }) => !key.includes(name))
      const set = replaced.map(({ name }) => `${name} = excluded.${name}`).join(", ")
      insert(table, columns, ` ON CONFLICT (${key.join(", ")}) DO UPDATE SET ${set}`)
    },
    run,
  }
}

function countRows(columns: readonly Column[]): number {
  return columns[0]?.values.length ?? 0
}

export type Value = string | number | null
export type Row = Readonly<Record<string, Value>>

/** The values of one column, in the order of the rows. */
export interface Column {
  readonly name: string
  readonly values: readonly Value[]
}

/** Default `names`: all columns. */
export function columnsOf(rows: readonly Row[], names = Object.keys(rows[0] ?? {})): readonly Column[] {
  return names.map((name) => ({ name, values: rows.map((row) => row[name] ?? null) }))
}

/** Rows as the server gets them. */
interface RowSource {
  /** Undefined: there is one row, and every column is a parameter. */
  readonly from: string | undefined
  valueOf(column: string): string
  readonly values: readonly Value[]
}

/**
 * A column whose value is the same in all rows becomes one parameter, which takes the type of what it is compared with
 * or assigned to. If a hundred tasks begin or end together, most columns are such. The others become parallel arrays,
 * which the server reads several times faster than rows of JSON.
 */
export function toRowSource(columns: readonly Column[]): RowSource {
  const own = columns.filter(isMixed)
  // If all rows are alike, one column becomes an array nevertheless, which tells their number.
  if (own.length === 0 && columns[0] && columns[0].values.length > 1) own.push(columns[0])
  const values: Value[] = own.map(toArray)
  const places = new Map(own.map(({ name }) => [name, `given.${name}`]))
  for (const { name, values: given } of columns)
    if (!places.has(name)) places.set(name, `$${values.push(toValue(given[0]))}`)
  const arrays = own.map((column, index) => `$${index + 1}::${typeOf(column)}[]`)
  return {
    from:
      own.length === 0
        ? undefined
        : `unnest(${arrays.join(", ")}) AS given (${own.map(({ name }) => name).join(", ")})`,
    valueOf: (column) => places.get(column) ?? `given.${column}`,
    values,
  }
}

function isMixed({ values }: Column): boolean {
  const [first] = values
  return values.some((value) => value !== first)
}

function toValue(value: Value | undefined): Value {
  return value === undefined || (typeof value === "number" && !Number.isFinite(value)) ? null : value
}

/** The type that a column's values are cast to. */
function typeOf({ values }: Column): string {
  if (values.some((value) => typeof value === "string")) return "text"
  return values.every((value) => value === null || Number.isSafeInteger(value)) ? "bigint" : "double precision"
}

function toArray({ values }: Column): string {
  let list = ""
  for (const value of values) list += `,${typeof value === "string" ? quote(value) : String(toValue(value))}`
  return `{${list.slice(1)}}`
}

function quote(text: string): string {
  return `"${SPECIAL.test(text) ? text.replaceAll(/["\\]/g, String.raw`\$&`) : text}"`
}

const SPECIAL = /["\\]/
