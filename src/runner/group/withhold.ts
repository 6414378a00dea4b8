import type { TaskView } from "../../plugin/task-service.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { Patch } from "../../task/patch.ts"
import type { TaskRecord } from "../../task/record.ts"
import type { HasStore } from "../run/scope.ts"
import { findGate } from "./gate.ts"

/** Stands where the result would. */
const WITHHELD: Patch = {
  digest: ["A person decides whether this result is used, and has not said yes."],
  facts: {},
  artifacts: [],
  nextSteps: [],
  payload: null,
}

/** True if a person decides whether the result is used, and has not said yes. */
export async function isWithheld(scope: HasStore, task: TaskRecord): Promise<boolean> {
  if (task.group === null || !isTerminal(task.status)) return false
  const group = await scope.store.group(task.group)
  if (group?.merge !== "human_gated" || group.state === "cancelled") return false
  return (await findGate(scope.store, group))?.status !== "completed"
}

/** The task as a run may see it: asking for a member by its id is no way round the person. */
export async function withhold(scope: HasStore, view: TaskView): Promise<TaskView> {
  const { task } = view
  if (!("patch" in task) || !(await isWithheld(scope, task))) return view
  return { ...view, lastLine: null, task: { ...task, patch: WITHHELD } }
}
