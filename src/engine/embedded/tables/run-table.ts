import type { TaskRecord } from "../../../task/record.ts"
import type { Prepare } from "../sqlite/statement.ts"
import { parseEarlierRun } from "../../rules/rows/task-row.ts"
import type { RunTable } from "../../rules/tables.ts"

/** Runs before the current one, as they ended. */
export function createRunTable(prepare: Prepare): RunTable {
  const find = prepare<{ record: string }>("SELECT record FROM runs WHERE task = ? AND run = ?")
  const all = prepare<{ record: string }>("SELECT record FROM runs WHERE task = ? ORDER BY run")
  const save = prepare("INSERT OR REPLACE INTO runs (task, run, record) VALUES (?, ?, ?)")
  const remove = prepare("DELETE FROM runs WHERE task = ?")
  const parse = ({ record }: { record: string }): TaskRecord => parseEarlierRun(record)
  return {
    find(task, run) {
      const row = find.get(task, run)
      return row && parse(row)
    },
    all: (task) => all.all(task).map(parse),
    save: (task, record) => void save.run(task, record.run, JSON.stringify(record)),
    remove: (task) => void remove.run(task),
  }
}
