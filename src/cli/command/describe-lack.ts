import type { Runtime } from "../../app.ts"
import { plain, type Task } from "../format.ts"

/**
 * Behind the line about a task that was begun: what keeps it in the queue, when nobody who is there can run it. What cannot be
 * read is left out: the task was begun all the same, and its end is waited for.
 */
export async function describeLack(
  { tasks }: { readonly tasks: Pick<Runtime["tasks"], "get"> },
  { id, status }: Pick<Task, "id" | "status">,
): Promise<string> {
  const view = status === "queued" ? await tasks.get(id).catch(() => null) : null
  return view?.missing ? `: ${plain(view.missing.text)}` : ""
}
