import type { ReportedProgress } from "../../task/progress.ts"
import { checkName } from "../admit/details.ts"
import type { ActiveRun } from "../run/active-run.ts"
import { toKeptReport } from "../run/run-account.ts"
import type { FenceScope, HasClock, HasRedactor } from "../run/scope.ts"
import { writeInAnyCase } from "../run/write-run.ts"

/** A run keeps so many as events. */
const MOST_MILESTONES = 100

/**
 * The event and the step that says that it was kept are one commit. A call in the foreground has no record yet: its
 * promotion writes both.
 */
export async function reachMilestone(
  scope: FenceScope & HasClock & HasRedactor,
  active: ActiveRun,
  name: string,
  reached: Partial<ReportedProgress>,
): Promise<void> {
  const { notes, steps } = active
  const key = `milestone/${name}`
  if (steps.journal.has(key) || notes.milestones >= MOST_MILESTONES) return
  checkName(scope.redactor, "key of the milestone", name)
  notes.milestones += 1
  const reported = toKeptReport(scope, reached)
  steps.journal.set(key, { state: "finished", onCrash: "retry", result: null, returned: null })
  if (active.standing.in === "foreground") {
    notes.unsaved = { ...notes.unsaved, milestones: [...notes.unsaved.milestones, reported] }
    return
  }
  await writeInAnyCase(scope, active, (run) => [
    { op: "task.note", run, facts: [{ type: "task.milestone_reached", reported }] },
    { op: "step.finish", run, key, result: null },
  ])
}
