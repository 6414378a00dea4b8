import { formatGroup } from "../format/format-group.ts"
import type { Command, TaskContext } from "./command.ts"

const MOST_LISTED = 20

export const groupsCommand: Command<TaskContext> = {
  name: "groups",
  usage: "groups",
  summary: "list the groups of tasks, with how many of each have ended",
  async run(_argument, { desk, screen }) {
    const groups = await desk.groups.list({})
    if (groups.length === 0)
      return screen.print("No groups yet. Tasks that the model starts together and waits for as one are a group.")
    screen.print(groups.slice(0, MOST_LISTED).map(formatGroup).join("\n"))
    if (groups.length > MOST_LISTED) screen.print(`(the newest ${MOST_LISTED}; there are more)`)
  },
}
