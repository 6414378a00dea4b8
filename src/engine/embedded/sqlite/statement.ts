import type { DatabaseSync, SQLInputValue } from "node:sqlite"

/** A prepared statement whose rows have the shape that its own SQL gives them. */
export interface Statement<Row = never> {
  get(...parameters: SQLInputValue[]): Row | undefined
  all(...parameters: SQLInputValue[]): Row[]
  run(...parameters: SQLInputValue[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint }
}

/**
 * Ends a query that has a limit. Not a bare parameter: SQLite plans by its value, and would prepare the statement anew
 * whenever another value is bound, which costs more than most queries.
 */
export const LIMIT = "LIMIT CAST(? AS INTEGER)"

/** Prepares a statement of this text, with rows of this shape. */
export type Prepare = <Row = never>(sql: string) => Statement<Row>

/**
 * Prepares each text once, when it is first used: a store has a hundred statements, and most programs use few. The one
 * place where rows get their type: SQLite cannot tell the compiler what a statement returns.
 */
export function createPrepare(database: DatabaseSync): Prepare {
  const known = new Map<string, Statement<unknown>>()

  function toStatement(sql: string): Statement<unknown> {
    let prepared: Statement<unknown> | undefined
    const use = (): Statement<unknown> => (prepared ??= database.prepare(sql))
    return {
      get: (...parameters) => use().get(...parameters),
      all: (...parameters) => use().all(...parameters),
      run: (...parameters) => use().run(...parameters),
    }
  }

  return <Row>(sql: string) => {
    let statement = known.get(sql)
    if (!statement) known.set(sql, (statement = toStatement(sql)))
    return statement as Statement<Row>
  }
}

/**
 * Reads a number that changes with every commit of another connection. It is read in every transaction, so rows come
 * without names, which takes half the time.
 */
export function prepareDataVersion(database: DatabaseSync): () => number {
  const statement = database.prepare("PRAGMA data_version")
  statement.setReturnArrays(true)
  return () => {
    const [version] = statement.get() as unknown as readonly [number]
    return version
  }
}
