import type { NoticeState } from "../../../task/notice.ts"
import type { NoticeFilter, TaskStore } from "../../../task/store.ts"
import { type NoticeRow, SELECT_NOTICES, toNotice } from "../../rules/rows/notice-row.ts"
import type { Query } from "../connection/database.ts"
import { createConditions, toLimit } from "./conditions.ts"

const UNSETTLED: ReadonlySet<NoticeState> = new Set(["pending", "claimed"])

/** Oldest first. */
export function createNoticeReads(query: Query): Pick<TaskStore, "notices"> {
  return {
    async notices(filter, limit) {
      const conditions = toConditions(filter)
      const end = `ORDER BY at, task, run LIMIT ${conditions.bind(toLimit(limit))}`
      return (await query<NoticeRow>(`${SELECT_NOTICES}${conditions.where()} ${end}`, conditions.values)).map(toNotice)
    },
  }
}

/** Those of a task or of a session are few; only what is unsettled is indexed, and said to be whenever the filter allows. */
function toConditions({ taskId, session, workspace, states, notify }: NoticeFilter) {
  const conditions = createConditions()
  if (taskId !== undefined) conditions.demand(`task = (SELECT number FROM tasks WHERE id = ${conditions.bind(taskId)})`)
  const isNarrow = taskId !== undefined || typeof session === "string"
  conditions[taskId === undefined ? "equal" : "match"]("session", session)
  conditions[isNarrow ? "match" : "equal"]("workspace", workspace)
  conditions.among("state", states)
  if (states?.every((state) => UNSETTLED.has(state))) conditions.demand("settled_at IS NULL")
  conditions.among("notify", notify)
  return conditions
}
