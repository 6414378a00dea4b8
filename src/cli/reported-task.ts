import type { Runtime } from "../app.ts"
import type { Task } from "./format.ts"

/** Whether an agent that speaks by itself tells what came of the task: not when it was to be silent, alone or in its group. */
export async function isReportedTask({ engine }: Pick<Runtime, "engine">, { notify, group }: Task): Promise<boolean> {
  if (notify !== "wake") return false
  return group === null || (await engine.store.group(group))?.report !== "none"
}
