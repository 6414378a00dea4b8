import { shorten } from "../../base/shorten.ts"
import { plain, toTable } from "../format/format.ts"
import { formatTaskRow } from "../format/format-task-row.ts"
import { formatAgentActivity } from "../view/activity.ts"
import { formatCount } from "../format/format-accounting.ts"
import type { Command, TaskContext } from "./command.ts"

const MOST_TASKS = 20

export const agentsCommand: Command = {
  name: "agents",
  usage: "agents [NAME|NUMBER|all]",
  summary:
    "list the agents of this chat and of the background with what they do, or show one of them alone, as F2 does",
  async run(wanted, { meanwhile, desk, screen, conversation, selection, activity }) {
    if (wanted !== "") return selection.select(wanted)
    // The agents that need an answer from the person, for a call or a question.
    const asking = new Set((await desk.inbox.list()).map(({ task }) => task.session))
    const doing = new Map(activity.list(false).map((each) => [each.agent, formatAgentActivity(each)]))
    const selected = selection.selected()
    const rows = selection.agents().map((agent) => {
      const { usage } = meanwhile.ledger.total({ session: agent.id })
      const model = agent.id === conversation.session.id ? plain(conversation.session.model) : agent.model
      const tokens = `${formatCount(usage.inputTokens)} + ${formatCount(usage.outputTokens)} tokens`
      const status = asking.has(agent.id) ? "waits for you: /inbox" : agent.status
      return [
        agent === selected ? "▸" : " ",
        String(agent.number),
        selection.titleOf(agent),
        status,
        model,
        tokens,
        asking.has(agent.id) ? "" : (doing.get(agent.id) ?? ""),
      ]
    })
    const cut = (line: string): string => shorten(line, screen.columns)
    screen.print(toTable(rows).map(cut).join("\n"))
    await showTasks({ desk, screen })
  },
}

/** Agents that work as tasks, those of other chats and programs too, each with how far it is. */
async function showTasks({ desk, screen }: Pick<TaskContext, "desk" | "screen">): Promise<void> {
  const { items, cursor } = await desk.tasks.rows({ kinds: ["agent"], statuses: "live" }, { limit: MOST_TASKS })
  if (items.length === 0) return
  const rows = items.map((row) => formatTaskRow(row, desk.now(), screen.columns))
  screen.print(
    ["Agents that work as tasks:", ...rows, ...(cursor === undefined ? [] : ["(there are more)"])].join("\n"),
  )
}
