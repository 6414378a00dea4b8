import { formatDuration } from "../format.ts"
import type { Screen } from "../screen/screen.ts"
import { cutToWidth } from "../screen/text-width.ts"
import type { AgentId } from "./agent-event.ts"

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const
const EVERY_MS = 120
const MOST_LINES = 8

/** What goes on now, shown on a terminal while it does: every agent that works, and the calls it waits for. */
export interface Activity {
  begin(agent: AgentId, label: string): void
  beginCall(agent: AgentId, callId: string, title: string): void
  endCall(agent: AgentId, callId: string): void
  end(agent: AgentId): void
  /** Another agent was selected. */
  refresh(): void
  close(): void
}

export interface ActivityOptions {
  readonly screen: Screen
  readonly isSelected: (agent: AgentId) => boolean
  /** A line above all others; empty for none. */
  readonly headline: () => string
}

interface Shown {
  readonly label: string
  readonly sinceMs: number
  readonly calls: Map<string, { readonly title: string; readonly sinceMs: number }>
}

export function createActivity({ screen, isSelected, headline }: ActivityOptions): Activity {
  const agents = new Map<AgentId, Shown>()
  let timer: NodeJS.Timeout | undefined
  let frame = 0
  let isClosed = false

  function show(): void {
    const now = performance.now()
    const lines = [...agents].flatMap(([id, agent]) => toLines(id, agent, now))
    const bounded =
      lines.length > MOST_LINES
        ? [...lines.slice(0, MOST_LINES - 1), `  … ${lines.length - MOST_LINES + 1} more`]
        : lines
    const above = headline() === "" ? [] : [headline()]
    screen.showActivity(
      isClosed ? [] : [...above, ...bounded].map((line) => screen.style.dim(cutToWidth(line, screen.columns - 1))),
    )
  }

  function toLines(id: AgentId, { label, sinceMs, calls }: Shown, now: number): readonly string[] {
    const doing = calls.size > 0 ? "working" : "thinking"
    const mark = isSelected(id) ? "▸ " : ""
    const head = `${FRAMES[frame % FRAMES.length]} ${mark}${label}${doing}… ${formatDuration(now - sinceMs)}`
    const below = [...calls.values()].map((call, index) => {
      const branch = index === calls.size - 1 ? "└" : "├"
      return `  ${branch} ${call.title} ${formatDuration(now - call.sinceMs)}`
    })
    return [head, ...below]
  }

  function follow(): void {
    if (!screen.isLive) return
    if (agents.size > 0 && !timer) {
      timer = setInterval(() => {
        frame += 1
        show()
      }, EVERY_MS)
      timer.unref()
    } else if (agents.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
    show()
  }

  return {
    begin(agent, label) {
      agents.set(agent, { label, sinceMs: performance.now(), calls: new Map() })
      follow()
    },
    beginCall(agent, callId, title) {
      agents.get(agent)?.calls.set(callId, { title, sinceMs: performance.now() })
      follow()
    },
    endCall(agent, callId) {
      agents.get(agent)?.calls.delete(callId)
      follow()
    },
    end(agent) {
      agents.delete(agent)
      follow()
    },
    refresh: follow,
    close() {
      isClosed = true
      agents.clear()
      follow()
    },
  }
}
