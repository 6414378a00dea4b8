import type { JsonValue } from "../base/json.ts"
import type { TaskId, WaitId, WorkspaceId } from "./id.ts"

export const WAIT_REASONS = ["person", "approval", "client_tool", "tasks", "time"] as const
export type WaitReason = (typeof WAIT_REASONS)[number]

/** Something a run needs from outside before it can continue. */
export interface Wait {
  readonly id: WaitId
  readonly reason: WaitReason
  readonly question: JsonValue
  /** If nobody has answered by then, the answer is `onExpiry`. Null: the wait never expires. */
  readonly expiresAt: number | null
  readonly onExpiry: JsonValue
}

export type WaitRecord = Wait & {
  readonly workspace: WorkspaceId
  readonly taskId: TaskId
  readonly run: number
  readonly openedAt: number
} & (
    | { readonly state: "open" }
    | {
        readonly state: "answered"
        readonly answer: JsonValue
        readonly answeredBy: string
        readonly answeredAt: number
      }
    /** The run ended first. */
    | { readonly state: "withdrawn" }
  )
