import type { TaskStore } from "../../../task/store.ts"
import { type EventRow, toEvent } from "../../rules/rows/event-row.ts"
import { STEP_COLUMNS, type StepRow, toStep } from "../../rules/rows/step-row.ts"
import type { Query } from "../connection/database.ts"
import { toLimit, toPlace } from "./conditions.ts"

const TASK_NUMBER = "(SELECT number FROM tasks WHERE id = $1)"

const EVENTS = {
  name: "events",
  text: `SELECT sequence, run, at, type, body FROM events WHERE task = ${TASK_NUMBER} AND sequence > $2
    ORDER BY sequence LIMIT $3`,
}

const STEPS = {
  name: "steps",
  text: `SELECT ${STEP_COLUMNS} FROM steps WHERE task = ${TASK_NUMBER} AND run = $2 ORDER BY first_sequence`,
}

/** What happened to a task, and what its runs have done. */
export function createJournalReads(query: Query): Pick<TaskStore, "events" | "steps"> {
  return {
    async events(id, afterSequence, limit) {
      const rows = await query<EventRow>(EVENTS, [id, toPlace(afterSequence), toLimit(limit)])
      return rows.map((row) => toEvent(id, row))
    },
    steps: async (id, run) => (await query<StepRow>(STEPS, [id, run])).map((row) => toStep(id, run, row)),
  }
}
