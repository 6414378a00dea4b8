import type { Execution } from "../plugin/task-service.ts"
import type { TaskId } from "../task/id.ts"
import type { Conversation } from "./conversation/conversation.ts"

/** Moves the calls that the turn waits for to the background, as far as they can be; returns those tasks. */
export async function promoteCalls({ executions }: Conversation): Promise<readonly TaskId[]> {
  const promoted = await Promise.all([...executions].map(promote))
  return promoted.flat()
}

async function promote(execution: Execution): Promise<readonly TaskId[]> {
  if (!(await execution.promote())) return []
  const answer = await execution.answer
  return answer.outcome === "promoted" ? [answer.task.id] : []
}
