import { isJsonObject, type JsonValue } from "../../base/json.ts"
import type { ReportedProgress } from "../../task/progress.ts"

/** The input of a call of `report_progress`. */
export interface ProgressReport {
  readonly reported: ReportedProgress
  readonly isMilestone: boolean
}

/** Reads what an agent said. What is of the wrong kind was not said. */
export function toProgressReport(input: JsonValue): ProgressReport {
  const { fraction, phase, words, milestone } = isJsonObject(input) ? input : {}
  const isFraction = typeof fraction === "number" && fraction >= 0 && fraction <= 1
  return {
    reported: {
      fraction: isFraction ? fraction : null,
      phase: typeof phase === "string" ? phase : null,
      words: typeof words === "string" ? words : null,
    },
    isMilestone: milestone === true,
  }
}
