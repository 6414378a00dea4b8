import type { JsonValue } from "../../../base/json.ts"
import type { TaskId, WaitId, WorkspaceId } from "../../../task/id.ts"
import type { WaitReason, WaitRecord } from "../../../task/wait.ts"

export interface WaitRow {
  readonly id: WaitId
  readonly task_id: TaskId
  readonly workspace: WorkspaceId
  readonly run: number
  readonly opened_at: number
  readonly state: WaitRecord["state"]
  readonly reason: WaitReason
  readonly expires_at: number | null
  readonly on_expiry: string
  readonly answered_by: string | null
  readonly answered_at: number | null
  readonly answer: string | null
  readonly question: string
}

export function toWaitRecord(row: WaitRow): WaitRecord {
  const common = {
    id: row.id,
    workspace: row.workspace,
    taskId: row.task_id,
    run: row.run,
    openedAt: row.opened_at,
    reason: row.reason,
    question: JSON.parse(row.question) as JsonValue,
    expiresAt: row.expires_at,
    onExpiry: JSON.parse(row.on_expiry) as JsonValue,
  }
  if (row.state !== "answered") return { ...common, state: row.state }
  const answer = JSON.parse(row.answer ?? "null") as JsonValue
  return { ...common, state: "answered", answer, answeredBy: row.answered_by ?? "", answeredAt: row.answered_at ?? 0 }
}
