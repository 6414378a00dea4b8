import type { DatabaseSync } from "node:sqlite"
import type { InputText } from "../../rules/rows/task-row.ts"
import { prepare } from "../sqlite/statement.ts"

/** Longer inputs lie apart, so that a change of status does not write them again. */
const INLINE_CHARACTERS = 1_000

/** True if the inputs lie in a row of their own instead of the task's. */
export function isLarge({ input, metadata }: InputText): boolean {
  return input.length + metadata.length > INLINE_CHARACTERS
}

export interface LargeInputTable {
  find(task: number): InputText | undefined
  save(task: number, text: InputText): void
  remove(task: number): void
}

export function createLargeInputTable(database: DatabaseSync): LargeInputTable {
  const find = prepare<InputText>(database, "SELECT input, metadata FROM large_inputs WHERE task = ?")
  const save = prepare(database, "INSERT OR REPLACE INTO large_inputs (input, metadata, task) VALUES (?, ?, ?)")
  const remove = prepare(database, "DELETE FROM large_inputs WHERE task = ?")
  return {
    find: (task) => find.get(task),
    save: (task, { input, metadata }) => void save.run(input, metadata, task),
    remove: (task) => void remove.run(task),
  }
}
