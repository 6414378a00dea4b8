import type { Desk } from "../../desk/desk.ts"
import { type Task, toLine } from "../format/format.ts"

/** The folder in which a call is to run, and the machine on which it was asked for: each only if it is another one. */
export async function describePlace(
  { tasks }: { readonly tasks: Pick<Desk["tasks"], "askingHost"> },
  task: Task,
): Promise<readonly string[]> {
  const host = await tasks.askingHost(task)
  const folder = task.folder !== null && (host !== null || task.folder !== process.cwd()) ? `in ${task.folder}` : ""
  const parts = [folder, host === null ? "" : `asked for on ${host}`].filter((part) => part !== "")
  return parts.length === 0 ? [] : [toLine(parts.join(", "))]
}
