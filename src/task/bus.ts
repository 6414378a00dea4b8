import type { GroupId, SessionId, TaskId } from "./id.ts"

/** Something was committed. `unknown`: another process committed, and what it changed is not known. */
export type Wake =
  /**
   * `isLive`: the task's last run has not ended, so nobody who waits for its end needs to look. `isForeign`: another
   * process committed the change.
   */
  | {
      readonly about: "task"
      readonly taskId: TaskId
      readonly sequence: number
      readonly isLive?: true
      readonly isForeign?: true
    }
  /** `hasNotice: false`: only the conversation has changed, and there is no new notice to look for. */
  | { readonly about: "session"; readonly sessionId: SessionId; readonly hasNotice?: false }
  /** The group got a member, a member ended, or the group's state changed. */
  | { readonly about: "group"; readonly groupId: GroupId }
  /** The task has printed output that other processes can read. */
  | { readonly about: "output"; readonly taskId: TaskId }
  | { readonly about: "unknown" }

/** Carries lossy wake-ups. A listener re-reads the store from its own cursor. */
export interface Bus {
  subscribe(listener: (wake: Wake) => void): () => void
  /** The listener is told whether the task may have ended. */
  subscribeTask(id: TaskId, listener: (mayBeOver: boolean) => void): () => void
}
