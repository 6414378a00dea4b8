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
  /** A person is asked whether it may run; or they said yes, and it begins now. */
  awaitPerson(agent: AgentId, callId: string, isWaiting: boolean): void
  /** The agent has asked the person something, in the inbox; or the question is no longer open. */
  awaitAnswer(agent: AgentId, question: string, isOpen: boolean): void
  /** How far it is; empty when nobody knows. */
  showProgress(agent: AgentId, callId: string, progress: string): void
  endCall(agent: AgentId, callId: string): void
  end(agent: AgentId): void
  /** Another agent was selected. */
  refresh(): void
  close(): void
}

export interface ActivityOptions {
  readonly screen: Screen
  readonly isSelected: (agent: AgentId) => boolean
  /** Whether a question is open. */
  readonly isAsking: () => boolean
  /** A line above all others; empty for none. */
  readonly headline: () => string
}

interface Shown {
  readonly label: string
  readonly sinceMs: number
  readonly calls: Map<string, ShownCall>
}

interface ShownCall {
  readonly title: string
  sinceMs: number
  isWaiting: boolean
  progress: string
}

export function createActivity({ screen, isSelected, isAsking, headline }: ActivityOptions): Activity {
  const agents = new Map<AgentId, Shown>()
  /** Open questions in the inbox, and who asks them. */
  const asked = new Map<string, AgentId>()
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
    const shown = [...calls.values()]
    const isAnswerNeeded = [...asked.values()].includes(id)
    const isWaiting = isAnswerNeeded || (shown.length > 0 && shown.every(isForPerson))
    const doing = calls.size > 0 ? "working" : "thinking"
    const mark = isSelected(id) ? "▸ " : ""
    const head = isWaiting
      ? `? ${mark}${label}waiting for you${isAnswerNeeded ? ": /inbox" : ""}`
      : `${FRAMES[frame % FRAMES.length]} ${mark}${label}${doing}… ${formatDuration(now - sinceMs)}`
    const below = shown.map((call, index) => {
      const branch = index === shown.length - 1 ? "└" : "├"
      return `  ${branch} ${toLine(call, now)}`
    })
    return [head, ...below]
  }

  function toLine(call: ShownCall, now: number): string {
    if (isForPerson(call)) return `${call.title} (waiting for you)`
    const progress = call.progress === "" ? "" : `${call.progress} · `
    return `${call.title} ${progress}${formatDuration(now - call.sinceMs)}`
  }

  /** A call may also ask something itself; which one does is known only when there is no other. */
  function isForPerson(call: ShownCall): boolean {
    if (call.isWaiting) return true
    const all = [...agents.values()].flatMap(({ calls }) => [...calls.values()])
    return all.length === 1 && isAsking()
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
      agents.get(agent)?.calls.set(callId, { title, sinceMs: performance.now(), isWaiting: false, progress: "" })
      follow()
    },
    awaitPerson(agent, callId, isWaiting) {
      const call = agents.get(agent)?.calls.get(callId)
      if (!call) return
      call.isWaiting = isWaiting
      call.sinceMs = performance.now()
      follow()
    },
    awaitAnswer(agent, question, isOpen) {
      if (isOpen) asked.set(question, agent)
      else asked.delete(question)
      follow()
    },
    showProgress(agent, callId, progress) {
      const call = agents.get(agent)?.calls.get(callId)
      if (call) call.progress = progress
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
