import { shortId, toLine } from "../format/format.ts"
import type { AgentId, EventOf } from "../format/agent-event.ts"
import { createTranscript, type Transcript } from "./transcript.ts"

const MOST_OTHERS = 9
/** Names that `/agents` understands as something else. */
const TAKEN_NAMES = ["all", "main"]

/** An agent that did something in this chat. It stays known for a while when it has ended. */
export interface KnownAgent {
  readonly id: AgentId
  /** Its place in the order in which agents appeared, from 1. */
  readonly number: number
  name: string
  model: string
  isSubagent: boolean
  /** `idle`: the agent has had no turn here. */
  status: "idle" | EventOf<"agent.status_changed">["status"]
  readonly transcript: Transcript
}

export interface AgentRoster {
  /** Finds an agent. Adds one that is not in the roster yet. */
  find(id: AgentId): KnownAgent
  /** Sets an agent's name and model. A subagent's name that another agent has gets a number. */
  introduce(agent: KnownAgent, event: EventOf<"agent.created">): void
  /** The agent a person talks with, then the others, the latest first, as many as a person can choose from. */
  list(): readonly KnownAgent[]
  /** Forgets the oldest agents that do not work, but never `kept`. */
  prune(kept: KnownAgent | undefined): void
  /** The label before an agent's lines. Empty for the agent a person talks with. */
  labelOf(agent: KnownAgent): string
}

export function createAgentRoster(isMain: (agent: AgentId) => boolean): AgentRoster {
  const agents = new Map<AgentId, KnownAgent>()
  let count = 0

  const latestOthers = (): KnownAgent[] => [...agents.values()].filter(({ id }) => !isMain(id)).toReversed()

  function toFreeName(wanted: string, own: AgentId): string {
    const taken = new Set(TAKEN_NAMES)
    for (const { id, name } of agents.values()) if (id !== own) taken.add(name.toLowerCase())
    let name = wanted
    for (let next = 2; taken.has(name.toLowerCase()); next++) name = `${wanted} ${next}`
    return name
  }

  return {
    find(id) {
      const known = agents.get(id)
      if (known) return known
      count += 1
      const agent: KnownAgent = {
        id,
        number: count,
        name: `session ${shortId(id)}`,
        model: "",
        isSubagent: false,
        status: "idle",
        transcript: createTranscript(),
      }
      agents.set(id, agent)
      return agent
    },
    introduce(agent, { name, parent, model }) {
      agent.model = toLine(model)
      agent.isSubagent = parent !== null
      // Without a name its lines would look like those of the main agent.
      if (agent.isSubagent) agent.name = toFreeName(toLine(name) || "subagent", agent.id)
    },
    list() {
      const main = [...agents.values()].filter(({ id }) => isMain(id))
      return [...main, ...latestOthers().slice(0, MOST_OTHERS)]
    },
    prune(kept) {
      for (const agent of latestOthers().slice(MOST_OTHERS)) {
        if (agent.status !== "active" && agent !== kept) agents.delete(agent.id)
      }
    },
    labelOf: ({ id, name }) => (isMain(id) ? "" : name),
  }
}
