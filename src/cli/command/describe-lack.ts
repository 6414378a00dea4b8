import type { Desk } from "../../desk/desk.ts"
import { plain, type Task } from "../format/format.ts"

/**
 * The end of a line about a task that was started: why the task stays in the queue, if no live worker can run it. A
 * reason that cannot be read is left out, since the task was started all the same.
 */
export async function describeLack(
  { tasks }: { readonly tasks: Pick<Desk["tasks"], "find"> },
  { id, status }: Pick<Task, "id" | "status">,
): Promise<string> {
  const view = status === "queued" ? await tasks.find(id).catch(() => null) : null
  return view?.missing ? ` (it waits: ${plain(view.missing.text)})` : ""
}
