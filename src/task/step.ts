import type { JsonValue } from "../base/json.ts"
import type { TaskId } from "./id.ts"

/** The effect of a crash in an unfinished step on its run. */
export type OnCrash = "fail" | "retry" | "ask"

interface StepStart {
  readonly taskId: TaskId
  readonly run: number
  /** Stable and unique within its run. */
  readonly key: string
  readonly onCrash: OnCrash
  readonly startedAt: number
}

/** One journaled action inside a run. Finished steps are numbered in the order in which they finished. */
export type Step =
  | (StepStart & { readonly state: "started" })
  | (StepStart & {
      readonly state: "finished"
      readonly completion: number
      readonly result: JsonValue
      readonly finishedAt: number
    })

/** Steps a run has taken by the time its task is written. */
export type StepTaken =
  | { readonly key: string; readonly onCrash: OnCrash; readonly state: "started" }
  | { readonly key: string; readonly onCrash: OnCrash; readonly state: "finished"; readonly result: JsonValue }
