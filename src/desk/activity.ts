import type { JsonValue } from "../base/json.ts"
import type { AgentEvent } from "../plugin/agent-event.ts"
import type { SessionId } from "../task/id.ts"
import type { Progress } from "../task/progress.ts"

/** One agent that works now. */
export interface AgentActivity {
  readonly agent: SessionId
  /** `thinking`: its model is asked. `working`: its calls run. `needs_you`: it stands still until a person answers. */
  readonly state: "thinking" | "working" | "needs_you"
  /** True if the agent's question is in the inbox, and not put to the person directly. */
  readonly isInInbox: boolean
  /** Milliseconds since the agent began its turn. */
  readonly forMs: number
  /** In the order in which they began. */
  readonly calls: readonly CallActivity[]
}

/** A call that an agent waits for. */
export interface CallActivity {
  readonly callId: string
  readonly tool: string
  readonly input: JsonValue
  readonly needsPerson: boolean
  /** Milliseconds since the call began, or since a person was asked about it or has answered. */
  readonly forMs: number
  readonly progress: Progress | null
}

/** The agents that work now, derived from their events. */
export interface Activity {
  take(event: AgentEvent): void
  /** Records that a question of the agent is in the inbox, or is no longer. */
  markAsking(agent: SessionId, question: string, isOpen: boolean): void
  /** `isPersonAsked`: a question is put to the person now, by some call. */
  list(isPersonAsked: boolean): readonly AgentActivity[]
  clear(): void
}

interface KnownCall {
  readonly tool: string
  readonly input: JsonValue
  sinceMs: number
  isAsked: boolean
  progress: Progress | null
}

interface KnownAgent {
  readonly sinceMs: number
  readonly calls: Map<string, KnownCall>
}

/** `nowMs` measures durations: the wall clock may jump. */
export function createActivity(nowMs: () => number): Activity {
  const agents = new Map<SessionId, KnownAgent>()
  /** Open questions of the inbox, and the agents that ask them. */
  const asked = new Map<string, SessionId>()

  function markAsked(call: KnownCall | undefined, isAsked: boolean): void {
    if (call) Object.assign(call, { isAsked, sinceMs: nowMs() })
  }

  function toActivity(agent: SessionId, known: KnownAgent, isOnlyCallAsked: boolean): AgentActivity {
    const now = nowMs()
    const calls = [...known.calls].map(([callId, { tool, input, sinceMs, isAsked, progress }]): CallActivity => {
      return { callId, tool, input, needsPerson: isAsked || isOnlyCallAsked, forMs: now - sinceMs, progress }
    })
    const isInInbox = [...asked.values()].includes(agent)
    const isStanding = isInInbox || (calls.length > 0 && calls.every(({ needsPerson }) => needsPerson))
    const state = isStanding ? "needs_you" : calls.length > 0 ? "working" : "thinking"
    return { agent, state, isInInbox, forMs: now - known.sinceMs, calls }
  }

  return {
    take(event) {
      const known = agents.get(event.agent)
      switch (event.type) {
        case "agent.status_changed":
          if (event.status === "active") agents.set(event.agent, { sinceMs: nowMs(), calls: new Map() })
          else agents.delete(event.agent)
          return
        case "tool_call.started": {
          const { tool, input } = event
          known?.calls.set(event.callId, { tool, input, sinceMs: nowMs(), isAsked: false, progress: null })
          return
        }
        case "tool_call.asked":
          return markAsked(known?.calls.get(event.callId), true)
        case "tool_call.allowed":
          return markAsked(known?.calls.get(event.callId), false)
        case "tool_call.progressed": {
          const call = known?.calls.get(event.callId)
          if (call) call.progress = event.progress
          return
        }
        case "tool_call.ended":
          known?.calls.delete(event.callId)
          return
        default:
      }
    },
    markAsking(agent, question, isOpen) {
      if (isOpen) asked.set(question, agent)
      else asked.delete(question)
    },
    list(isPersonAsked) {
      // A running call may ask a question itself. Which call does is known only when there is no other.
      const count = [...agents.values()].reduce((sum, { calls }) => sum + calls.size, 0)
      return [...agents].map(([agent, known]) => toActivity(agent, known, isPersonAsked && count === 1))
    },
    clear: () => agents.clear(),
  }
}
