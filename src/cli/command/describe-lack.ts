import { plain, type Task } from "../format.ts"
import type { TaskContext } from "./command.ts"

/** Behind the line about a task that was begun: what keeps it in the queue, when nobody who is there can run it. */
export async function describeLack(
  { tasks }: TaskContext["meanwhile"],
  { id, status }: Pick<Task, "id" | "status">,
): Promise<string> {
  const missing = status === "queued" ? (await tasks.get(id)).missing : null
  return missing ? `: ${plain(missing.text)}` : ""
}
