import type { SessionId, TaskId, WorkspaceId } from "./id.ts"
import type { AskingStep, NotifyMode } from "./record.ts"

export type NoticeKind = "ended" | "needs_answer"

export interface NoticeKey {
  readonly taskId: TaskId
  readonly run: number
  readonly kind: NoticeKind
}

/**
 * "This run ended" or "this task needs you", addressed to a session. Its state records who has used the result. A claim
 * names the step that will use the result, and ends with that step's run.
 */
export type Notice = NoticeKey & {
  readonly workspace: WorkspaceId
  readonly session: SessionId | null
  /** The notify mode of its task; `silent` in a group that reports nothing. */
  readonly notify: NotifyMode
  readonly at: number
  /** The trace of its task: the turn that reports the notice continues it. */
  readonly traceId: string | null
} & (
    | { readonly state: "pending" }
    | { readonly state: "claimed"; readonly claimedBy: AskingStep }
    | { readonly state: "consumed"; readonly settledAt: number }
    /** The next run began before anyone used the result. */
    | { readonly state: "superseded"; readonly settledAt: number }
  )

export type NoticeState = Notice["state"]
