import type { Clock } from "../../../base/clock.ts"
import type { TaskStore } from "../../../task/store.ts"
import { toWaitRecord, type WaitRow } from "../../rules/rows/wait-row.ts"
import type { Query } from "../connection/database.ts"
import { NOW } from "../load/now.ts"
import { createConditions } from "./conditions.ts"

const WAIT = { name: "wait", text: "SELECT * FROM waits WHERE id = $1" }

/** Without a clock of its own the store goes by the server's. */
export function createWaitReads(query: Query, clock: Clock | undefined): Pick<TaskStore, "wait" | "waits"> {
  return {
    async wait(id) {
      const [row] = await query<WaitRow>(WAIT, [id])
      return row && toWaitRecord(row)
    },
    /** Oldest first. */
    async waits({ taskId, workspace, isOpen, isOverdue }) {
      const conditions = createConditions()
      if (taskId !== undefined)
        conditions.demand(`task = (SELECT number FROM tasks WHERE id = ${conditions.bind(taskId)})`)
      conditions.equal("workspace", workspace)
      if (isOpen !== undefined) conditions.demand(isOpen ? "state = 'open'" : "state <> 'open'")
      if (isOverdue) conditions.demand(`expires_at <= ${clock ? `${conditions.bind(clock.now())}::bigint` : NOW}`)
      const text = `SELECT * FROM waits${conditions.where()} ORDER BY opened_at, task, run, id`
      return (await query<WaitRow>(text, conditions.values)).map(toWaitRecord)
    },
  }
}
