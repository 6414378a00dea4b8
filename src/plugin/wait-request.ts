import type { GroupRecord } from "../task/group.ts"
import type { PatternAnswer } from "./output.ts"
import type { TaskView } from "./task-view.ts"

/** The subject of a wait: tasks, a group, or text that a task prints. */
export interface WaitRequest {
  /** Ids or prefixes. */
  readonly tasks?: readonly string[]
  /**
   * An id, a prefix or a name. Waits until it is joined; a run of the group's own session, which could seal it itself,
   * for the members that it has now. What a `human_gated` one came to is not known before somebody has decided.
   */
  readonly group?: string
  /** Waits until the one named task prints this. */
  readonly pattern?: string
  /** How many of them. Default `all`; of a group, as the group says. */
  readonly until?: "all" | "any" | number
  readonly limitMs: number
  /** Gives up without stopping anything. */
  readonly signal?: AbortSignal
  /** The waiting turn uses the results of the tasks that have ended. */
  readonly consume?: boolean
}

export interface WaitAnswer {
  /**
   * `met`: as many as asked for have ended, or the text was printed. `cancelled`: the group was cancelled.
   * `needs_answer`:
   * one of them waits for a person or for the agent that started it. `released`: the signal was aborted. `time`: the
   * limit.
   */
  readonly reason: "met" | "cancelled" | "needs_answer" | "released" | "time"
  readonly tasks: readonly TaskView[]
  readonly group: GroupRecord | null
  readonly match: PatternAnswer | null
}
