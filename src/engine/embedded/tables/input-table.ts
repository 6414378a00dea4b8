import type { DatabaseSync } from "node:sqlite"
import type { JsonObject } from "../../../base/json.ts"
import type { TaskDetails } from "../../../task/record.ts"
import { prepare } from "../statement.ts"

/** Input and metadata as text: in the task's own row when short, else in a row of their own. */
export interface InputText {
  readonly input: string
  readonly metadata: string
  readonly isLarge: boolean
}

/** Longer inputs lie apart, so that a change of status does not write them again. */
const INLINE_CHARACTERS = 1_000

export function toInputText(details: TaskDetails): InputText {
  const input = JSON.stringify(details.input)
  const metadata = JSON.stringify(details.metadata)
  return { input, metadata, isLarge: input.length + metadata.length > INLINE_CHARACTERS }
}

export function parseInput(text: { input: string; metadata: string }): Pick<TaskDetails, "input" | "metadata"> {
  const metadata = text.metadata === "{}" ? {} : (JSON.parse(text.metadata) as JsonObject)
  return { input: JSON.parse(text.input) as TaskDetails["input"], metadata }
}

export interface LargeInputTable {
  find(task: number): { readonly input: string; readonly metadata: string } | undefined
  save(task: number, text: InputText): void
  remove(task: number): void
}

export function createLargeInputTable(database: DatabaseSync): LargeInputTable {
  const find = prepare<{ input: string; metadata: string }>(
    database,
    "SELECT input, metadata FROM large_inputs WHERE task = ?",
  )
  const save = prepare(database, "INSERT OR REPLACE INTO large_inputs (input, metadata, task) VALUES (?, ?, ?)")
  const remove = prepare(database, "DELETE FROM large_inputs WHERE task = ?")
  return {
    find: (task) => find.get(task),
    save: (task, { input, metadata }) => void save.run(input, metadata, task),
    remove: (task) => void remove.run(task),
  }
}
