import type { Command, TaskContext } from "./command.ts"

export const clearCommand: Command<TaskContext> = {
  name: "clear",
  usage: "clear",
  summary:
    "remove ended tasks and their output; results that a conversation has not used yet stay. In a shared store: only yours",
  isKept: true,
  async run(_argument, { desk, screen, own }) {
    const cleared = await desk.tasks.clear(own && { sessions: own.conversations, tasks: own.tasks.list() })
    for (const id of cleared.gone) own?.tasks.remove(id)
    screen.print(formatRemoved(cleared.removed, own ? " of yours" : ""))
    if (cleared.kept > 0) screen.print(formatKept(cleared.kept))
  },
}

function formatRemoved(count: number, whose: string): string {
  return count === 1 ? `1 ended task${whose} removed.` : `${count} ended tasks${whose} removed.`
}

function formatKept(count: number): string {
  return count === 1
    ? "1 was kept: its conversation has not used the result yet."
    : `${count} were kept: their conversations have not used the results yet.`
}
