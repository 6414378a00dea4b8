import { countOf } from "../format/format.ts"
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
    screen.print(`${countOf(cleared.removed, "ended task")}${own ? " of yours" : ""} removed.`)
    if (cleared.kept === 1) screen.print("1 was kept: its conversation has not used the result yet.")
    else if (cleared.kept > 1)
      screen.print(`${cleared.kept} were kept: their conversations have not used the results yet.`)
  },
}
