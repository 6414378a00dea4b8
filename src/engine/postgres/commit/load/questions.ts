import type { Query } from "../../connection/database.ts"

/** Gives the place of a value in the statement. */
export type Parameter = (value: unknown) => string

/** Several selections that are asked for in one statement, in their order; `Answer` is what each of them gives. */
export interface Questions<Answer> {
  /** A selection of rows. */
  ask(name: keyof Answer & string, toSql: (parameter: Parameter) => string): void
  /** A single value, as JSON. */
  askValue(name: keyof Answer & string, toSql: (parameter: Parameter) => string): void
  isEmpty(): boolean
  /** Leaves out selections that were not asked for or have no rows. */
  answer(query: Query): Promise<Partial<Answer>>
}

export function createQuestions<Answer>(): Questions<Answer> {
  const values: unknown[] = []
  const selections: string[] = []

  const parameter: Parameter = (value) => `$${values.push(value)}`

  return {
    ask: (name, toSql) =>
      void selections.push(`(SELECT json_agg(found)::text FROM (${toSql(parameter)}) AS found) AS ${name}`),
    askValue: (name, toSql) => void selections.push(`(${toSql(parameter)})::text AS ${name}`),
    isEmpty: () => selections.length === 0,
    async answer(query) {
      const [row = {}] = await query<Record<string, string | null>>(`SELECT ${selections.join(", ")}`, values)
      const found = Object.entries(row).flatMap(([name, text]) => (text === null ? [] : [[name, JSON.parse(text)]]))
      return Object.fromEntries(found) as Partial<Answer>
    },
  }
}
