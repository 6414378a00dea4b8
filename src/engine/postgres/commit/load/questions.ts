import type { AskingStep } from "../../../../task/record.ts"
import type { Query } from "../../connection/database.ts"
import { isStorable } from "../../schema/storable.ts"

/** Adds a value to the statement and returns its placeholder. */
export type Parameter = (value: unknown) => string

export type Questions = ReturnType<typeof createQuestions>

/** Several selections that one statement asks for, in their order. */
export function createQuestions() {
  const values: unknown[] = []
  const selections: string[] = []
  const learners: ((answer: never) => void)[] = []
  const parameter: Parameter = (value) => `$${values.push(value)}`

  function add(selection: string, learn: (answer: never) => void): void {
    selections.push(`${selection} AS answer_${learners.push(learn)}`)
  }

  return {
    parameter,
    /**
     * Asks for rows, of the shape that the SQL gives them. A selection about nothing is not sent; `learn` is called
     * with no rows.
     */
    ask<About extends Storable>(
      about: Iterable<About>,
      toSql: (about: readonly About[]) => string,
      learn: (rows: readonly never[]) => void,
    ): void {
      const [sql] = ifWanted(about, toSql)
      if (sql === undefined) return learn([])
      const selection = `(SELECT json_agg(found)::text FROM (${sql}) AS found)`
      add(selection, (rows: readonly never[] | null) => learn(rows ?? []))
    },
    /** Asks for a single value, as JSON. */
    askValue: (sql: string, learn: (value: never) => void) => add(`(${sql})::text`, learn),
    isEmpty: () => selections.length === 0,
    async answer(query: Query): Promise<void> {
      if (selections.length === 0) return
      const [row = {}] = await query<Record<string, string | null>>(`SELECT ${selections.join(", ")}`, values)
      for (const [index, text] of Object.values(row).entries()) learners[index]?.(JSON.parse(text ?? "null") as never)
    },
  }
}

type Storable = string | number | object

/**
 * A selection of the wanted rows; none if nothing is wanted. Leaves out keys that PostgreSQL cannot hold, which are not
 * in the store.
 */
export function ifWanted<Wanted extends Storable>(
  wanted: Iterable<Wanted>,
  toSql: (wanted: readonly Wanted[]) => string,
): readonly string[] {
  const storable = [...wanted].filter(isStorable)
  return storable.length === 0 ? [] : [toSql(storable)]
}

/** Passes the wanted keys as a table named `wanted`, with columns of these types. */
export function toWanted<Column extends string>(
  parameter: Parameter,
  wanted: readonly Readonly<Record<NoInfer<Column>, unknown>>[],
  types: Readonly<Record<Column, string>>,
): string {
  const columns = Object.keys(types) as Column[]
  const arrays = columns.map((column) => `${parameter(wanted.map((row) => row[column]))}::${types[column]}[]`)
  return `unnest(${arrays.join(", ")}) AS wanted (${columns.join(", ")})`
}

export function toWantedSteps(parameter: Parameter, steps: readonly AskingStep[]): string {
  const rows = steps.map(({ taskId, run, key }) => ({ task: taskId, run, key }))
  return toWanted(parameter, rows, { task: "text", run: "integer", key: "text" })
}
