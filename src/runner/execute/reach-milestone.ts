import type { ReportedProgress } from "../../task/progress.ts"
import { checkName } from "../admit/details.ts"
import type { ActiveRun } from "../run/active-run.ts"
import { toKeptReport } from "../run/run-account.ts"
import type { FenceScope, HasClock, HasRedactor } from "../run/scope.ts"
import { writeInAnyCase } from "../run/write-run.ts"

const PREFIX = "milestone/"
/** A run keeps so many as events. */
const MOST_MILESTONES = 100

/**
 * False if the run has too many already. The event and the step that says that it was kept are one commit. A call in the foreground has no record yet: its
 * promotion writes both.
 */
export async function reachMilestone(
  scope: FenceScope & HasClock & HasRedactor,
  active: ActiveRun,
  name: string,
  reached: Partial<ReportedProgress>,
): Promise<boolean> {
  const { notes, steps } = active
  const key = `${PREFIX}${name}`
  if (steps.journal.has(key)) return true
  if ([...steps.journal.keys()].filter((each) => each.startsWith(PREFIX)).length >= MOST_MILESTONES) return false
  checkName(scope.redactor, "key of the milestone", name)
  const reported = toKeptReport(scope, reached)
  steps.journal.set(key, { state: "finished", onCrash: "retry", result: null, returned: null })
  if (active.standing.in === "foreground") {
    notes.unsaved = { ...notes.unsaved, milestones: [...notes.unsaved.milestones, reported] }
    return true
  }
  try {
    await writeInAnyCase(scope, active, (run) => [
      { op: "task.note", run, facts: [{ type: "task.milestone_reached", reported }] },
      { op: "step.finish", run, key, result: null },
    ])
  } catch (error) {
    steps.journal.delete(key)
    throw error
  }
  return true
}
