import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"

type Row = Readonly<Record<string, SQLInputValue>>

/** All rows of the embedded store that belong to one task, by table. */
export type TaskRows = ReadonlyMap<string, readonly Row[]>

/** Tables whose rows name their task by number: in the column `task`, in `number` of `tasks`, or in `place` of `events`. */
function listTables(database: DatabaseSync): readonly { readonly name: string; readonly taskColumn: string }[] {
  const names = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all()
  return names.flatMap(({ name }) => {
    const table = String(name)
    if (table === "tasks") return [{ name: table, taskColumn: "number" }]
    if (table === "events") return [{ name: table, taskColumn: "place >> 32" }]
    const columns = database.prepare(`PRAGMA table_info(${table})`).all()
    return columns.some((column) => column["name"] === "task") ? [{ name: table, taskColumn: "task" }] : []
  })
}

/**
 * Reads what the engine wrote for a task. The references copy rows that the engine really wrote, so they write the same
 * rows after every change of the schema.
 */
export function readTaskRows(database: DatabaseSync, id: string): TaskRows {
  const found = database.prepare("SELECT number FROM tasks WHERE id = ?").get(id)
  if (!found) throw new Error(`the store has no task ${id}`)
  const number = Number(found["number"])
  return new Map(
    listTables(database).map(({ name, taskColumn }) => [
      name,
      database.prepare(`SELECT * FROM ${name} WHERE ${taskColumn} = ?`).all(number) as unknown as Row[],
    ]),
  )
}

export interface CopyOf {
  readonly number: number
  readonly id: string
}

/** Writes the rows of one more task, as bare prepared statements. */
export type WriteCopy = (copy: CopyOf) => void

/** Inserts every row of the task. */
export function prepareInsert(database: DatabaseSync, rows: TaskRows): WriteCopy {
  return sequence([...rows].flatMap(([table, all]) => all.map((row) => prepareInsertRow(database, table, row))))
}

/** Brings a copy from `before` to `after`: updates what differs in `tasks`, inserts what is new in the other tables. */
export function prepareChange(database: DatabaseSync, before: TaskRows, after: TaskRows): WriteCopy {
  return sequence(
    [...after].flatMap(([table, rows]) => {
      if (table === "tasks") return rows.map((row) => prepareUpdateRow(database, row, before.get(table)?.[0] ?? {}))
      const earlier = new Set((before.get(table) ?? []).map((row) => JSON.stringify(row)))
      return rows
        .filter((row) => !earlier.has(JSON.stringify(row)))
        .map((row) => prepareInsertRow(database, table, row))
    }),
  )
}

function sequence(writes: readonly WriteCopy[]): WriteCopy {
  return (copy) => {
    for (const write of writes) write(copy)
  }
}

function prepareInsertRow(database: DatabaseSync, table: string, row: Row): WriteCopy {
  const columns = Object.keys(row)
  const marks = columns.map(() => "?").join(", ")
  const statement = database.prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${marks})`)
  return bind(statement, columns, Object.values(row))
}

function prepareUpdateRow(database: DatabaseSync, row: Row, before: Row): WriteCopy {
  const changed = Object.keys(row).filter((column) => row[column] !== before[column])
  const assignments = changed.map((column) => `${column} = ?`).join(", ")
  const statement = database.prepare(`UPDATE tasks SET ${assignments} WHERE number = ?`)
  return bind(statement, [...changed, "number"], [...changed.map((column) => row[column] ?? null), null])
}

/** What differs from one task to the next; everything else is as it was recorded. */
const OWN_COLUMNS: Readonly<Record<string, (copy: CopyOf, recorded: SQLInputValue) => SQLInputValue>> = {
  place: ({ number }, recorded) => number * 2 ** 32 + (Number(recorded) % 2 ** 32),
  number: ({ number }) => number,
  task: ({ number }) => number,
  id: ({ id }) => id,
  task_id: ({ id }) => id,
}

function bind(statement: StatementSync, columns: readonly string[], recorded: readonly SQLInputValue[]): WriteCopy {
  const values = [...recorded]
  const own = columns.flatMap((column, index) => {
    const toValue = OWN_COLUMNS[column]
    return toValue ? [{ index, toValue }] : []
  })
  return (copy) => {
    for (const { index, toValue } of own) values[index] = toValue(copy, recorded[index] ?? null)
    statement.run(...values)
  }
}

/**
 * Fills the store with so many copies of the task, by one statement per table. Fast and not durable: for stores that
 * only have to be large. The copies get the numbers from `firstNumber` on and random ids.
 */
export function insertCopies(database: DatabaseSync, rows: TaskRows, firstNumber: number, count: number): void {
  database.exec("CREATE TEMP TABLE copies (number INTEGER PRIMARY KEY, id TEXT NOT NULL)")
  database
    .prepare(
      `WITH RECURSIVE numbers (number) AS (SELECT ? UNION ALL SELECT number + 1 FROM numbers LIMIT ?)
       INSERT INTO copies SELECT number, ${RANDOM_UUID} FROM numbers`,
    )
    .run(firstNumber, count)
  for (const [table, all] of rows) {
    for (const row of all) {
      const columns = Object.keys(row)
      const values = columns.map((column) => COPIED_COLUMNS[column] ?? "?")
      const recorded = columns
        .filter((column) => !(column in COPIED_COLUMNS) || column === "place")
        .map((column) => (column === "place" ? Number(row[column]) % 2 ** 32 : (row[column] ?? null)))
      database
        .prepare(`INSERT INTO ${table} (${columns.join(", ")}) SELECT ${values.join(", ")} FROM copies`)
        .run(...recorded)
    }
  }
  database.exec("DROP TABLE copies")
}

const COPIED_COLUMNS: Readonly<Record<string, string>> = {
  place: "copies.number << 32 | ?",
  number: "copies.number",
  task: "copies.number",
  id: "copies.id",
  task_id: "copies.id",
}

const RANDOM_UUID = `lower(hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-4' || substr(hex(randomblob(2)), 2)
  || '-a' || substr(hex(randomblob(2)), 2) || '-' || hex(randomblob(6)))`
