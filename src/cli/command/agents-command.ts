import { plain, toTable } from "../format/format.ts"
import { formatCount } from "../format/format-accounting.ts"
import type { Command } from "./command.ts"

export const agentsCommand: Command = {
  name: "agents",
  usage: "agents [NAME|NUMBER|all]",
  summary: "list the agents of this chat, or show one of them alone, as F2 does",
  async run(wanted, { meanwhile, desk, screen, conversation, selection }) {
    if (wanted !== "") return selection.select(wanted)
    // The agents that need an answer from the person, for a call or a question.
    const asking = new Set((await desk.inbox.list()).map(({ task }) => task.session))
    const selected = selection.selected()
    const rows = selection.agents().map((agent) => {
      const { usage } = meanwhile.ledger.total({ session: agent.id })
      const model = agent.id === conversation.session.id ? plain(conversation.session.model) : agent.model
      const tokens = `${formatCount(usage.inputTokens)} + ${formatCount(usage.outputTokens)} tokens`
      const status = asking.has(agent.id) ? "waits for you: /inbox" : agent.status
      return [agent === selected ? "▸" : " ", String(agent.number), selection.titleOf(agent), status, model, tokens]
    })
    screen.print(toTable(rows).join("\n"))
  },
}
