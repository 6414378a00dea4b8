import type { Desk } from "../../desk/desk.ts"
import { plain, type Task } from "../format/format.ts"

/**
 * Follows the line about a task that was begun: the reason why it stays in the queue, when no worker that lives can run it. A
 * reason that cannot be read is left out: the task was begun all the same.
 */
export async function describeLack(
  { tasks }: { readonly tasks: Pick<Desk["tasks"], "find"> },
  { id, status }: Pick<Task, "id" | "status">,
): Promise<string> {
  const view = status === "queued" ? await tasks.find(id).catch(() => null) : null
  return view?.missing ? `: ${plain(view.missing.text)}` : ""
}
