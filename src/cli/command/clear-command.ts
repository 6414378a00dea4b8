import { BACKGROUND_KINDS } from "../format.ts"
import { listTasks } from "../list-tasks.ts"
import type { Command, TaskContext } from "./command.ts"

export const clearCommand: Command<TaskContext> = {
  name: "clear",
  usage: "clear",
  summary: "forget every task that has ended, with its output; results that a conversation has not used yet stay",
  isKept: true,
  async run(_argument, { meanwhile, screen }) {
    const kinds = BACKGROUND_KINDS
    const used = await meanwhile.tasks.clear({ kinds, isConsumed: true })
    // Nobody is told of these by a turn: they would stay for ever.
    const addressedToNobody = await meanwhile.tasks.clear({ kinds, session: null })
    const removed = used + addressedToNobody
    screen.print(removed === 1 ? "1 ended task removed." : `${removed} ended tasks removed.`)
    const kept = await countKept(meanwhile)
    if (kept > 0) screen.print(formatKept(kept))
  },
}

async function countKept(meanwhile: TaskContext["meanwhile"]): Promise<number> {
  let count = 0
  const unused = { kinds: BACKGROUND_KINDS, isConsumed: false }
  for await (const { session } of listTasks(meanwhile, unused)) if (session !== null) count++
  return count
}

function formatKept(count: number): string {
  return count === 1
    ? "1 was kept: its conversation has not used the result yet."
    : `${count} were kept: their conversations have not used the results yet.`
}
