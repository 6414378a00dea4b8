import type { TaskStore, NoticeFilter } from "../../../task/store.ts"
import {
  type EventRow,
  type NoticeRow,
  SELECT_NOTICES,
  STEP_COLUMNS,
  type StepRow,
  toEvent,
  toNotice,
  toStep,
} from "../../rules/rows/journal-row.ts"
import type { Query } from "../connection/database.ts"
import { toLimit, toPlace, createConditions } from "./conditions.ts"
import { toWaitRecord, type WaitRow } from "../../rules/rows/wait-row.ts"
import type { NoticeState } from "../../../task/notice.ts"

/** The number of the task with this id. */
const toNumber = (parameter: string): string => `(SELECT number FROM tasks WHERE id = ${parameter})`

const EVENTS = {
  name: "events",
  text: `SELECT sequence, run, at, type, body FROM events WHERE task = ${toNumber("$1")} AND sequence > $2
    ORDER BY sequence LIMIT $3`,
}

const STEPS = {
  name: "steps",
  text: `SELECT ${STEP_COLUMNS} FROM steps WHERE task = ${toNumber("$1")} AND run = $2 ORDER BY first_sequence`,
}

const WAIT = { name: "wait", text: "SELECT * FROM waits WHERE id = $1" }

/** Reads the journal of tasks, their waits and their notices. Waits and notices come oldest first. */
export function createJournalReads(query: Query): Pick<TaskStore, "events" | "steps" | "wait" | "waits" | "notices"> {
  return {
    async events(id, afterSequence, limit) {
      const rows = await query<EventRow>(EVENTS, [id, toPlace(afterSequence), toLimit(limit)])
      return rows.map((row) => toEvent(id, row))
    },
    steps: async (id, run) => (await query<StepRow>(STEPS, [id, run])).map((row) => toStep(id, run, row)),
    async wait(id) {
      const [row] = await query<WaitRow>(WAIT, [id])
      return row && toWaitRecord(row)
    },
    async waits({ taskId, workspace, isOpen, expiresBy }) {
      const conditions = createConditions()
      if (taskId !== undefined) conditions.demand(`task = ${toNumber(conditions.bind(taskId))}`)
      conditions.equal("workspace", workspace)
      if (isOpen !== undefined) conditions.demand(isOpen ? "state = 'open'" : "state <> 'open'")
      if (expiresBy !== undefined) conditions.demand(`expires_at <= ${conditions.bind(toPlace(expiresBy))}`)
      const text = `SELECT * FROM waits${conditions.where()} ORDER BY opened_at, task, run, id`
      return (await query<WaitRow>(text, conditions.values)).map(toWaitRecord)
    },
    async notices(filter, limit) {
      const conditions = toConditions(filter)
      const end = `ORDER BY at, task, run LIMIT ${conditions.bind(toLimit(limit))}`
      return (await query<NoticeRow>(`${SELECT_NOTICES}${conditions.where()} ${end}`, conditions.values)).map(toNotice)
    },
  }
}

const UNSETTLED: ReadonlySet<NoticeState> = new Set(["pending", "claimed"])

/**
 * A task or a session has few notices, so no further index is chosen for them. Only unsettled notices are indexed: the
 * query asks for unsettled ones whenever the filter allows.
 */
function toConditions({ taskId, session, workspace, states, notify }: NoticeFilter) {
  const conditions = createConditions()
  if (taskId !== undefined) conditions.demand(`task = ${toNumber(conditions.bind(taskId))}`)
  const isNarrow = taskId !== undefined || typeof session === "string"
  conditions[taskId === undefined ? "equal" : "match"]("session", session)
  conditions[isNarrow ? "match" : "equal"]("workspace", workspace)
  conditions.among("state", states)
  if (states?.every((state) => UNSETTLED.has(state))) conditions.demand("settled_at IS NULL")
  conditions.among("notify", notify)
  return conditions
}
