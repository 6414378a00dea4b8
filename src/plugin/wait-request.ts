import type { GroupRecord } from "../task/group.ts"
import type { PatternAnswer } from "./output.ts"
import type { TaskView } from "./task-view.ts"

/** The subject of a wait: tasks, a group, or text that a task prints. */
export interface WaitRequest {
  /** Ids or prefixes. */
  readonly tasks?: readonly string[]
  /**
   * An id, a prefix or a name. Waits until the group is joined. A run of the group's own session, which could seal the
   * group itself, waits for the present members. The results of a `human_gated` group are not known before a person has
   * decided.
   */
  readonly group?: string
  /** Waits until the one named task prints this. */
  readonly pattern?: string
  /** How many of them must have ended. Default `all`; for a group, as the group says. */
  readonly until?: "all" | "any" | number
  readonly limitMs: number
  /** Gives up without stopping anything. */
  readonly signal?: AbortSignal
  /** True: the waiting turn uses the results of the tasks that have ended. */
  readonly consume?: boolean
}

export interface WaitAnswer {
  /**
   * `met`: as many as asked for have ended, or the text was printed. `cancelled`: the group was cancelled.
   * `needs_answer`: one of the tasks waits for a person or for the agent that started it. `released`: the signal was
   * aborted. `time`: the time limit is over.
   */
  readonly reason: "met" | "cancelled" | "needs_answer" | "released" | "time"
  readonly tasks: readonly TaskView[]
  readonly group: GroupRecord | null
  readonly match: PatternAnswer | null
}
