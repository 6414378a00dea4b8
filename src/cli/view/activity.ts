import type { Activity, AgentActivity, CallActivity } from "../../desk/activity.ts"
import { countOf, formatDuration, type TaskId } from "../format/format.ts"
import { formatProgress } from "../format/format-progress.ts"
import type { Screen } from "../screen/screen.ts"
import { cutToWidth } from "../screen/text-width.ts"
import type { AgentEvent, AgentId } from "../format/agent-event.ts"
import { formatCall } from "../format/format-call.ts"

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"] as const
const EVERY_MS = 120
const MOST_LINES = 8

export type ActivityLines = ReturnType<typeof createActivityLines>

export interface ActivityLinesOptions {
  readonly activity: Activity
  readonly screen: Screen
  /** The label before an agent's lines. Empty for the agent a person talks with. */
  readonly labelOf: (agent: AgentId) => string
  readonly isSelected: (agent: AgentId) => boolean
  /** True while a question to the person is open. */
  readonly isAsking: () => boolean
  /** A line above all others; empty for none. */
  readonly headline: () => string
}

/** Draws the current activity on a terminal: every agent that works, and the calls it waits for. */
export function createActivityLines(options: ActivityLinesOptions) {
  const { activity, screen, labelOf, isSelected, isAsking, headline } = options
  let timer: NodeJS.Timeout | undefined
  let frame = 0
  let isClosed = false

  function draw(working: readonly AgentActivity[]): void {
    const lines = working.flatMap(toLines)
    const bounded =
      lines.length > MOST_LINES
        ? [...lines.slice(0, MOST_LINES - 1), `  … ${lines.length - MOST_LINES + 1} more`]
        : lines
    const above = headline() === "" ? [] : [headline()]
    screen.showActivity(
      isClosed ? [] : [...above, ...bounded].map((line) => screen.style.dim(cutToWidth(line, screen.columns - 1))),
    )
  }

  function toLines({ agent, state, isInInbox, forMs, calls }: AgentActivity): readonly string[] {
    const label = labelOf(agent)
    const name = `${isSelected(agent) ? "▸ " : ""}${label === "" ? "" : `${label}: `}`
    const head =
      state === "needs_you"
        ? `? ${name}waiting for you${isInInbox ? ": /inbox" : ""}`
        : `${FRAMES[frame % FRAMES.length]} ${name}${state}… ${formatDuration(forMs)}`
    const below = calls.map((call, index) => `  ${index === calls.length - 1 ? "└" : "├"} ${toLine(call)}`)
    return [head, ...below]
  }

  function follow(): void {
    if (!screen.isLive) return
    const working = activity.list(isAsking())
    if (working.length > 0 && !timer) {
      timer = setInterval(() => {
        frame += 1
        draw(activity.list(isAsking()))
      }, EVERY_MS)
      timer.unref()
    } else if (working.length === 0) {
      clearInterval(timer)
      timer = undefined
    }
    draw(working)
  }

  return {
    show(event: AgentEvent): void {
      activity.take(event)
      if (CHANGING.has(event.type)) follow()
    },
    /** Marks an agent as asking while its question is in the inbox. */
    markAsking(agent: AgentId, question: TaskId, isOpen: boolean): void {
      activity.markAsking(agent, question, isOpen)
      follow()
    },
    /** Draws again, after another agent was selected. */
    refresh: follow,
    close(): void {
      isClosed = true
      activity.clear()
      follow()
    },
  }
}

/** Events that begin or end a line. Progress is drawn with the next frame. */
const CHANGING: ReadonlySet<AgentEvent["type"]> = new Set([
  "agent.status_changed",
  "tool_call.started",
  "tool_call.asked",
  "tool_call.allowed",
  "tool_call.ended",
])

/** What an agent does now, in one line. */
export function formatAgentActivity({ state, forMs, calls }: AgentActivity): string {
  const [call, ...others] = calls
  if (!call || state === "needs_you") return `${state === "needs_you" ? "waiting" : state} for ${formatDuration(forMs)}`
  return `${toLine(call)}${others.length > 0 ? `, and ${countOf(others.length, "more call")}` : ""}`
}

function toLine({ tool, input, needsPerson, forMs, progress }: CallActivity): string {
  const title = formatCall({ tool, input })
  if (needsPerson) return `${title} (waiting for you)`
  const step = progress ? formatProgress(progress) : ""
  return `${title} ${step === "" ? "" : `${step} · `}${formatDuration(forMs)}`
}
