import type { TaskStore } from "../../../task/store.ts"
import { toWaitRecord, type WaitRow } from "../../rules/rows/wait-row.ts"
import type { Query } from "../connection/database.ts"
import { createConditions, toPlace } from "./conditions.ts"

const WAIT = { name: "wait", text: "SELECT * FROM waits WHERE id = $1" }

export function createWaitReads(query: Query): Pick<TaskStore, "wait" | "waits"> {
  return {
    async wait(id) {
      const [row] = await query<WaitRow>(WAIT, [id])
      return row && toWaitRecord(row)
    },
    /** Oldest first. */
    async waits({ taskId, workspace, isOpen, expiresBy }) {
      const conditions = createConditions()
      if (taskId !== undefined)
        conditions.demand(`task = (SELECT number FROM tasks WHERE id = ${conditions.bind(taskId)})`)
      conditions.equal("workspace", workspace)
      if (isOpen !== undefined) conditions.demand(isOpen ? "state = 'open'" : "state <> 'open'")
      if (expiresBy !== undefined) conditions.demand(`expires_at <= ${conditions.bind(toPlace(expiresBy))}`)
      const text = `SELECT * FROM waits${conditions.where()} ORDER BY opened_at, task, run, id`
      return (await query<WaitRow>(text, conditions.values)).map(toWaitRecord)
    },
  }
}
