import type { DatabaseSync, SQLInputValue } from "node:sqlite"

/** A prepared statement whose rows have the shape that its own SQL gives them. */
export interface Statement<Row = never> {
  get(...parameters: SQLInputValue[]): Row | undefined
  all(...parameters: SQLInputValue[]): Row[]
  run(...parameters: SQLInputValue[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
}

/**
 * Ends a query that has a limit. Not a bare parameter: SQLite plans by its value, and would prepare the statement anew
 * whenever another is bound, which costs more than most queries.
 */
export const LIMIT = "LIMIT CAST(? AS INTEGER)"

/**
 * Prepared when it is first used: a store has a hundred statements, and most programs use few. The one place where rows
 * get their type: SQLite cannot tell the compiler what a statement returns.
 */
export function prepare<Row = never>(database: DatabaseSync, sql: string): Statement<Row> {
  let prepared: Statement<Row> | undefined
  const use = (): Statement<Row> => (prepared ??= database.prepare(sql) as unknown as Statement<Row>)
  return {
    get: (...parameters) => use().get(...parameters),
    all: (...parameters) => use().all(...parameters),
    run: (...parameters) => use().run(...parameters),
  }
}

/** Other connections' commits change it. Asked with every transaction: a row without names is made in half the time. */
export function prepareDataVersion(database: DatabaseSync): () => number {
  const statement = database.prepare("PRAGMA data_version")
  statement.setReturnArrays(true)
  return () => {
    const [version] = statement.get() as unknown as readonly [number]
    return version
  }
}

/** Statements whose text depends on what is asked for, prepared once per text. */
export function createStatementCache(database: DatabaseSync): <Row>(sql: string) => Statement<Row> {
  const statements = new Map<string, Statement<unknown>>()
  return <Row>(sql: string) => {
    const known = statements.get(sql)
    if (known) return known as Statement<Row>
    const statement = prepare<Row>(database, sql)
    statements.set(sql, statement)
    return statement
  }
}
