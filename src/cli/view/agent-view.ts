import type { Style } from "../screen/style.ts"
import { shorten } from "../../base/shorten.ts"
import type { Activity } from "../../desk/activity.ts"
import { countOf, formatDuration, plain, type TaskId, toLine, shortId } from "../format/format.ts"
import type { Screen } from "../screen/screen.ts"
import type { AgentEvent, AgentId, EventOf, TurnAccounting } from "../format/agent-event.ts"
import { type ActivityLines, createActivityLines } from "./activity.ts"
import { type AgentLines, createAgentLines } from "./agent-lines.ts"
import { createAgentRoster, type KnownAgent } from "./agent-roster.ts"
import { type AgentSelection, createAgentSelection } from "./agent-selection.ts"
import { formatAccounting } from "../format/format-accounting.ts"
import { formatCall, formatCallEnd } from "../format/format-call.ts"
import { createReportOrder } from "./report-order.ts"

export interface AgentViewOptions {
  readonly activity: Activity
  /** Gets the answers of the agent a person talks with. */
  readonly answers: Screen
  /** Gets everything else. */
  readonly notes: Screen
  /** True for the agent a person talks with. The others are shown with their names. */
  readonly isMain: (agent: AgentId) => boolean
  /** The model that an agent goes on with. Default, and where undefined: the one it began with. */
  readonly modelOf?: (agent: AgentId) => string | undefined
  /** True while a question to the person is open. Default: never. */
  readonly isAsking?: () => boolean
  /** True if the caller tells how the agent's turn failed. */
  readonly isAwaited: (agent: AgentId) => boolean
  /** Called when a call goes on as a task. */
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
  /** Marks an agent as asking while its question waits in the inbox. */
  markAsking(agent: AgentId, question: TaskId, isOpen: boolean): void
  close(): void
}

export function createAgentView(options: AgentViewOptions): AgentView {
  const { style } = options.notes
  const { roster, selection, activity, find, end } = createShownAgents(options)
  const reports = createReportOrder()

  function showStatus(event: EventOf<"agent.status_changed">, agent: ShownAgent): void {
    if (event.status === "active") return
    agent.lines.dropAnswer()
    if (event.status === "error" && !options.isAwaited(event.agent)) {
      agent.lines.note(style.red(`The turn failed: ${plain(event.reason ?? "the reason is not known")}`))
    }
    reports.end(agent)
  }

  function showCallStart(event: EventOf<"tool_call.started">, agent: ShownAgent): void {
    const { lines, calls } = agent
    lines.flush()
    if (calls.size === 0) lines.endOutput()
    calls.set(event.callId, event.backgroundAfterMs ?? null)
    lines.note(style.bold(`• ${formatCall(event)}`))
    reports.end(agent)
  }

  function showCallEnd(event: EventOf<"tool_call.ended">, { lines, calls }: ShownAgent): void {
    lines.flush()
    calls.delete(event.callId)
    lines.note(formatCallEnd(event, style))
    if (event.taskId) options.onTask(event.taskId)
  }

  function showTurnEnd({ accounting }: EventOf<"turn.completed">, agent: ShownAgent): void {
    agent.accounting = accounting
    if (accounting.outcome === "stopped") agent.lines.note(style.dim("(the turn was stopped)"))
  }

  function showOutput({ source, text }: EventOf<"agent.output">, { lines }: ShownAgent): void {
    if (source === "model") lines.endAnswer(text)
    else if (source === "tool") lines.writeOutput(text)
    else if (source === "system") lines.note(style.dim(plain(text)))
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
          return showTurnEnd(event, agent)
        case "context.updated":
          return showAccounting(event, agent, style)
        case "agent.completed":
          reports.end(agent)
          return end(event.agent)
        case "report.started":
          reports.begin(agent, roster.labelOf(agent.known) === "")
          return lines.note(style.dim(formatReportHead(event)))
        case "report.published":
          return reports.end(agent)
        case "notification.shown":
          showUnreported(event, lines, options)
          return reports.end(agent)
        case "prompt.enriched":
        case "tool_call.asked":
        case "tool_call.allowed":
        case "tool_call.progressed":
        case "history.updated":
        case "task.changed":
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
    close() {
      reports.close()
      activity.close()
    },
  }
}

function showAccounting({ usage }: EventOf<"context.updated">, agent: ShownAgent, style: Style): void {
  const { accounting } = agent
  agent.accounting = null
  // The turn that started a subagent includes its usage.
  if (accounting && !agent.known.isSubagent) agent.lines.note(style.dim(formatAccounting(accounting, usage)))
}

/** An agent that has not ended. */
interface ShownAgent {
  readonly known: KnownAgent
  readonly lines: AgentLines
  /** Running calls, each with the time after which it moves to the background; null: never. */
  readonly calls: Map<string, number | null>
  accounting: TurnAccounting | null
  /** The reason that was last told why the model was asked again. */
  retryReason: string
}

/** The agents of one screen: the roster, the selection of those that it shows, and their activity. */
function createShownAgents(options: AgentViewOptions) {
  const { answers, notes, isMain, modelOf = () => undefined, isAsking = () => false } = options
  const agents = new Map<AgentId, ShownAgent>()
  const roster = createAgentRoster(isMain)
  const selection = createAgentSelection({ screen: notes, roster, modelOf, onChange: () => activity.refresh() })
  const activity: ActivityLines = createActivityLines({
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
    find(id: AgentId): ShownAgent {
      const shown = agents.get(id)
      if (shown) return shown
      const known = roster.find(id)
      const lines = createAgentLines({
        answers,
        notes,
        transcript: known.transcript,
        isShown: () => selection.shows(known),
        label: () => roster.labelOf(known),
      })
      const agent: ShownAgent = { known, lines, calls: new Map(), accounting: null, retryReason: "" }
      agents.set(id, agent)
      return agent
    },
    /** Ends an agent. Its transcript stays with the roster. */
    end(id: AgentId): void {
      const known = roster.find(id)
      if (known.status !== "error") known.status = "done"
      agents.delete(id)
      selection.tellEnd(known)
      activity.refresh()
    },
  }
}

/** If the caller announces ends itself, shows only the reason why there is no report, and the results. */
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

/** Names a reason only once while it stays the same. */
function toRetryNote({ attempt, reason, afterMs }: EventOf<"model_call.retried">, agent: ShownAgent): string {
  const isTold = attempt > 1 && agent.retryReason === reason
  agent.retryReason = reason
  const why = isTold ? `Still so after ${attempt} attempts.` : plain(reason)
  return `${why} Trying again in ${formatDuration(afterMs)}.`
}

const TITLES_CHARACTERS = 100

/** The line above a report, which says what the report is about. */
function formatReportHead({ tasks, group }: Pick<EventOf<"report.started">, "tasks" | "group">): string {
  const [first] = tasks
  if (group) return `(about group ${toLine(group.name)}: ${countOf(tasks.length, "task")})`
  if (tasks.length === 1 && first)
    return `(about task ${shortId(first.id)}: ${shorten(toLine(first.title), TITLES_CHARACTERS)})`
  const titles = tasks.map(({ title }) => toLine(title)).join(", ")
  return `(about ${tasks.length} tasks: ${shorten(titles, TITLES_CHARACTERS)})`
}
