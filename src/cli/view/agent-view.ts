import { shorten } from "../../base/shorten.ts"
import type { Activity } from "../../desk/activity.ts"
import { formatDuration, plain, type TaskId, toLine, shortId } from "../format/format.ts"
import type { Screen } from "../screen/screen.ts"
import type { AgentEvent, AgentId, EventOf } from "../format/agent-event.ts"
import type { AgentSelection } from "./agent-selection.ts"
import { formatAccounting } from "../format/format-accounting.ts"
import { formatCall, formatCallEnd } from "../format/format-call.ts"
import { createShownAgents, type ShownAgent } from "./shown-agents.ts"

export interface AgentViewOptions {
  readonly activity: Activity
  /** Where the answers of the agent a person talks with go. */
  readonly answers: Screen
  /** Where everything else goes. */
  readonly notes: Screen
  /** The agent a person talks with: the others are shown with their names. */
  readonly isMain: (agent: AgentId) => boolean
  /** True while a question to the person is open. Default: never. */
  readonly isAsking?: () => boolean
  /** True if the caller tells how the agent's turn failed. */
  readonly isAwaited: (agent: AgentId) => boolean
  /** A call goes on as this task. */
  readonly onTask: (taskId: TaskId) => void
  /** True if the caller has shown what a notification about these tasks would say. Default: false. */
  readonly isTold?: (taskIds: readonly TaskId[]) => boolean
  /** Shows the results of these tasks, whose ends the caller announces. Default: the notification is shown as it is. */
  readonly onUnreported?: (taskIds: readonly TaskId[]) => void
}

/** Shows what agents do as it happens. */
export interface AgentView {
  show(event: AgentEvent): void
  readonly selection: AgentSelection
  /**
   * After how long all calls that an agent waits for have moved to the background; null: not all do, or there is none.
   */
  backgroundAfterMs(agent: AgentId): number | null
  /** A question of the agent waits in the inbox, or does no longer. */
  markAsking(agent: AgentId, question: TaskId, isOpen: boolean): void
  close(): void
}

export function createAgentView(options: AgentViewOptions): AgentView {
  const { style } = options.notes
  const { roster, selection, activity, find, end } = createShownAgents({
    isAsking: () => false,
    ...options,
  })

  function showStatus(event: EventOf<"agent.status_changed">, agent: ShownAgent): void {
    if (event.status === "active") return
    agent.lines.dropAnswer()
    if (event.status === "error" && !options.isAwaited(event.agent)) {
      agent.lines.note(style.red(`The turn failed: ${plain(event.reason ?? "the reason is not known")}`))
    }
  }

  function showCallStart(event: EventOf<"tool_call.started">, { lines, calls }: ShownAgent): void {
    lines.flush()
    if (calls.size === 0) lines.endOutput()
    calls.set(event.callId, event.backgroundAfterMs ?? null)
    lines.note(style.bold(`• ${formatCall(event)}`))
  }

  function showCallEnd(event: EventOf<"tool_call.ended">, { lines, calls }: ShownAgent): void {
    lines.flush()
    calls.delete(event.callId)
    lines.note(formatCallEnd(event, style))
    if (event.taskId) options.onTask(event.taskId)
  }

  function showOutput({ source, text }: EventOf<"agent.output">, { lines }: ShownAgent): void {
    if (source === "model") lines.endAnswer(text)
    else if (source === "tool") lines.writeOutput(text)
    else if (source === "system") lines.note(style.dim(plain(text)))
  }

  function showAccounting({ usage }: EventOf<"context.updated">, agent: ShownAgent): void {
    const { accounting } = agent
    agent.accounting = null
    // The turn that started a subagent includes its usage.
    if (accounting && !agent.known.isSubagent) agent.lines.note(style.dim(formatAccounting(accounting, usage)))
  }

  return {
    show(event) {
      const agent = find(event.agent)
      const { lines } = agent
      // The line above the activity names the status.
      if (event.type === "agent.status_changed") agent.known.status = event.status
      activity.show(event)
      switch (event.type) {
        case "agent.created":
          roster.introduce(agent.known, event)
          return roster.prune(selection.selected())
        case "agent.status_changed":
          return showStatus(event, agent)
        case "content.delta":
          return event.source === "model" ? lines.writeAnswer(event.text) : lines.writeReasoning(event.text)
        case "content.reset":
          lines.dropAnswer()
          return lines.note(style.dim(`(${plain(event.reason)})`))
        case "agent.output":
          return showOutput(event, agent)
        case "tool_call.started":
          return showCallStart(event, agent)
        case "tool_call.ended":
          return showCallEnd(event, agent)
        case "model_call.retried":
          return lines.note(style.dim(toRetryNote(event, agent)))
        case "context.collected":
          return lines.note(style.dim(`Room was made in the context: ${toLine(event.summary)}`))
        case "turn.completed":
          agent.accounting = event.accounting
          return
        case "context.updated":
          return showAccounting(event, agent)
        case "agent.completed":
          return end(event.agent)
        case "report.started":
          return lines.note(style.dim(formatReportHead(event)))
        case "notification.shown":
          return showUnreported(event, lines, options)
        case "tool_call.asked":
        case "tool_call.allowed":
        case "tool_call.progressed":
        case "history.updated":
        case "task.changed":
        case "report.published":
          return
      }
    },
    selection,
    backgroundAfterMs(agent) {
      const times = [...find(agent).calls.values()]
      const moving = times.filter((afterMs) => afterMs !== null)
      return times.length > 0 && moving.length === times.length ? Math.max(...moving) : null
    },
    markAsking: (agent, question, isOpen) => activity.markAsking(agent, question, isOpen),
    close: () => activity.close(),
  }
}

/** If the caller announces ends itself, only the reason why there is no report, and the results, are new. */
function showUnreported(
  { taskIds, text, why }: EventOf<"notification.shown">,
  lines: ShownAgent["lines"],
  { isTold, onUnreported, notes }: AgentViewOptions,
): void {
  if (isTold?.(taskIds)) return
  const reason = why === undefined ? "" : `(no report ${plain(why)}; the model hears of it with your next message)`
  if (reason !== "") lines.note(notes.style.dim(reason))
  if (reason !== "" && onUnreported) onUnreported(taskIds)
  else lines.note(plain(text))
}

/** Names the same reason once. */
function toRetryNote({ attempt, reason, afterMs }: EventOf<"model_call.retried">, agent: ShownAgent): string {
  const isTold = attempt > 1 && agent.retryReason === reason
  agent.retryReason = reason
  const why = isTold ? `Still so after ${attempt} attempts.` : plain(reason)
  return `${why} Trying again in ${formatDuration(afterMs)}.`
}

const TITLES_CHARACTERS = 100

/** Stands before what the agent says without having been asked. */
function formatReportHead({ tasks, group }: Pick<EventOf<"report.started">, "tasks" | "group">): string {
  const [first] = tasks
  if (group) return `(about group ${toLine(group.name)}: ${tasks.length === 1 ? "1 task" : `${tasks.length} tasks`})`
  if (tasks.length === 1 && first) return `(about task ${shortId(first.id)}: ${bound(toLine(first.title))})`
  return `(about ${tasks.length} tasks: ${bound(tasks.map(({ title }) => toLine(title)).join(", "))})`
}

function bound(text: string): string {
  return shorten(text, TITLES_CHARACTERS)
}
