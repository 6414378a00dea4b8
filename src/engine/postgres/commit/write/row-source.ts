export type Value = string | number | null
export type Row = Readonly<Record<string, Value>>

/** What many rows have in one column, in the order of the rows. */
export interface Column {
  readonly name: string
  readonly values: readonly Value[]
}

/** Without names, all of them. */
export function columnsOf(rows: readonly Row[], names = Object.keys(rows[0] ?? {})): readonly Column[] {
  return names.map((name) => ({ name, values: rows.map((row) => row[name] ?? null) }))
}

/** Rows as the server gets them. */
export interface RowSource {
  /** Undefined: there is one row, and every column is a parameter. */
  readonly from: string | undefined
  valueOf(column: string): string
  readonly values: readonly Value[]
}

/**
 * A column whose value is the same in all rows is a parameter, and takes the type of what it is compared with or assigned
 * to: of a hundred tasks that begin or end together most columns are. The others are arrays side by side, which the server
 * reads several times faster than rows of JSON.
 */
export function toRowSource(columns: readonly Column[]): RowSource {
  const own = columns.filter(isMixed)
  // Rows that are all alike are as many all the same.
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

/** What is assigned becomes what its column is. */
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
