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
  close(): void
}

interface Shown {
  readonly label: string
  readonly sinceMs: number
  readonly calls: Map<string, { readonly title: string; readonly sinceMs: number }>
}

export function createActivity(screen: Screen): Activity {
  const agents = new Map<AgentId, Shown>()
  let timer: NodeJS.Timeout | undefined
  let frame = 0

  function show(): void {
    const now = performance.now()
    const lines = [...agents.values()].flatMap(({ label, sinceMs, calls }) => {
      const doing = calls.size > 0 ? "working" : "thinking"
      const head = `${FRAMES[frame % FRAMES.length]} ${label}${doing}… ${formatDuration(now - sinceMs)}`
      const below = [...calls.values()].map((call) => `  └ ${call.title} ${formatDuration(now - call.sinceMs)}`)
      return [head, ...below]
    })
    const shown = lines.slice(0, MOST_LINES).map((line) => screen.style.dim(cutToWidth(line, screen.columns - 1)))
    screen.showActivity(shown)
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
    close() {
      agents.clear()
      follow()
    },
  }
}
