import type { Activity } from "../../desk/activity.ts"
import type { Screen } from "../screen/screen.ts"
import { type ActivityLines, createActivityLines } from "./activity.ts"
import type { AgentId, TurnAccounting } from "../format/agent-event.ts"
import { type AgentLines, createAgentLines, createAgentOutput } from "./agent-lines.ts"
import { type AgentRoster, createAgentRoster, type KnownAgent } from "./agent-roster.ts"
import { type AgentSelection, createAgentSelection } from "./agent-selection.ts"

/** One that has not ended. */
export interface ShownAgent {
  readonly known: KnownAgent
  readonly lines: AgentLines
  /** Running calls, each with the time after which it moves to the background; null: never. */
  readonly calls: Map<string, number | null>
  accounting: TurnAccounting | null
  /** Why the model was asked again, as it was last told. */
  retryReason: string
}

/** The agents of one screen: who they are, whose lines it shows, and what goes on in each. */
export interface ShownAgents {
  readonly roster: AgentRoster
  readonly selection: AgentSelection
  readonly activity: ActivityLines
  find(id: AgentId): ShownAgent
  /** It has ended. What it said stays with the roster. */
  end(id: AgentId): void
}

export interface ShownAgentsOptions {
  /** The agents that work now, as data. */
  readonly activity: Activity
  readonly answers: Screen
  readonly notes: Screen
  readonly isMain: (agent: AgentId) => boolean
  /** True while a question to the person is open. */
  readonly isAsking: () => boolean
}

export function createShownAgents(options: ShownAgentsOptions): ShownAgents {
  const { answers, notes, isMain, isAsking } = options
  const agents = new Map<AgentId, ShownAgent>()
  const roster = createAgentRoster(isMain)
  const selection = createAgentSelection({ screen: notes, roster, onChange: () => activity.refresh() })
  const activity = createActivityLines({
    activity: options.activity,
    screen: notes,
    labelOf: (agent) => roster.labelOf(roster.find(agent)),
    isAsking,
    isSelected: (agent) => selection.selected()?.id === agent,
    headline() {
      const selected = selection.selected()
      return selected ? `▸ ${selection.titleOf(selected)} alone (${selected.status}) · F2: the next agent` : ""
    },
  })

  return {
    roster,
    selection,
    activity,
    find(id) {
      const shown = agents.get(id)
      if (shown) return shown
      const known = roster.find(id)
      const { transcript } = known
      const output = createAgentOutput({ answers, notes, transcript, isShown: () => selection.shows(known) })
      const lines = createAgentLines(output, () => roster.labelOf(known))
      const agent: ShownAgent = { known, lines, calls: new Map(), accounting: null, retryReason: "" }
      agents.set(id, agent)
      return agent
    },
    end(id) {
      const known = roster.find(id)
      if (known.status !== "error") known.status = "done"
      agents.delete(id)
      selection.tellEnd(known)
      activity.refresh()
    },
  }
}
