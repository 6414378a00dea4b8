import type { GroupId, SessionId, TaskId } from "./id.ts"

/** Something was committed. `unknown`: another process wrote, and it could be anything. */
export type Wake =
  /**
   * `isLive`: the task's last run has not ended, so nobody who waits for its end needs to look. `isForeign`: another
   * process wrote it.
   */
  | {
      readonly about: "task"
      readonly taskId: TaskId
      readonly sequence: number
      readonly isLive?: true
      readonly isForeign?: true
    }
  /** `hasNotice: false`: only what was said in it has changed, and nothing is there to be told. */
  | { readonly about: "session"; readonly sessionId: SessionId; readonly hasNotice?: false }
  /** It got a member, one of its members ended, or it moved on. */
  | { readonly about: "group"; readonly groupId: GroupId }
  /** It has printed something that other processes can read. */
  | { readonly about: "output"; readonly taskId: TaskId }
  | { readonly about: "unknown" }

/** Carries lossy wake-ups. A listener re-reads the store from its own cursor. */
export interface Bus {
  subscribe(listener: (wake: Wake) => void): () => void
  /** The listener is told whether the task may have ended. */
  subscribeTask(id: TaskId, listener: (mayBeOver: boolean) => void): () => void
}
