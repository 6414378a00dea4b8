import { isJsonObject, type JsonObject } from "../../base/json.ts"
import { FINISH_TOOL, PROGRESS_TOOL } from "../../plugin/agent-request.ts"
import type { AgentEvent } from "../../plugin/agent-event.ts"
import type { FunctionCall } from "../../plugin/message.ts"
import type { ChildSendOptions } from "../../plugin/sessions-port.ts"
import type { AgentActivity } from "../../task/progress.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { Using } from "../conversation/scope.ts"
import { type ProgressReport, toProgressReport } from "./reported.ts"

/** The activity of a subagent, for the call that asked for it. */
export interface FollowedActivity {
  enter(phase: string): void
  spend(tokens: number): void
  /**
   * Takes all calls in the turns of this run that were found so far. A call that another process counted, or that is begun
   * again after a crash, counts once.
   */
  catchUp(calls: readonly FunctionCall[]): void
  /** The input of the last successful call of `finish` that this process saw. */
  handedBack(): JsonObject | null
  release(): void
}

type Called = Pick<AgentActivity, "toolCalls" | "lastTools">

const MOST_TOOLS = 3
const THINKING = "thinking"
const NO_ACTIVITY: Omit<AgentActivity, "at"> = { toolCalls: 0, lastTools: [], tokens: 0 }

/** Goes on from `before`, the activity that was known before a crash. */
export function followActivity(
  { clock }: Using<"clock">,
  { log, emitter }: Conversation,
  { onActivity, onMilestone }: Pick<ChildSendOptions, "onActivity" | "onMilestone">,
  before: AgentActivity | undefined,
): FollowedActivity {
  let known = before ?? { ...NO_ACTIVITY, at: clock.now() }
  /** The calls of earlier turns that are known. */
  let earlier: Called = known
  /** Tools of calls begun since then, by call id. A call that is begun again is left out once `catchUp` has counted it. */
  const begun = new Map<string, string>()
  let phase = THINKING
  let handedBack: JsonObject | null = null
  const offered = new Map<string, JsonObject>()
  const reports = new Map<string, ProgressReport>()
  let counted: ReadonlySet<string> = new Set()
  const tell = (change: Partial<AgentActivity>, next: string): void => {
    known = { ...known, ...change, at: clock.now() }
    phase = next
    onActivity?.(known, phase)
  }
  function toCalled(): Called {
    const tools = [...begun].flatMap(([id, tool]) => (counted.has(id) ? [] : [tool]))
    const lastTools = [...earlier.lastTools, ...tools].slice(-MOST_TOOLS)
    return { toolCalls: earlier.toolCalls + tools.length, lastTools }
  }
  /** A milestone's call names it: the same call, found again after a crash, is the same milestone. */
  function takeReport(callId: string, { reported, isMilestone }: ProgressReport): void {
    known = { ...known, reported }
    if (isMilestone) onMilestone?.(reported, callId)
  }
  const stopListening = emitter.on((event: AgentEvent) => {
    if (event.agent !== log.id) return
    if (event.type === "tool_call.started") {
      const { tool, callId, input } = event
      if (tool === FINISH_TOOL && isJsonObject(input)) offered.set(callId, input)
      if (tool === PROGRESS_TOOL) reports.set(callId, toProgressReport(input))
      begun.set(callId, tool)
      tell(toCalled(), `using ${tool}`)
    } else if (event.type === "tool_call.ended") {
      if (event.isSuccess) handedBack = offered.get(event.callId) ?? handedBack
      const report = event.isSuccess && reports.get(event.callId)
      if (report) takeReport(event.callId, report)
      tell({}, THINKING)
    }
  })
  return {
    enter: (next) => tell({}, next),
    catchUp(calls) {
      counted = new Set(calls.map(({ id }) => id))
      // Turns are found one after another: while fewer calls are found than were known, the known ones stay.
      if (calls.length >= earlier.toolCalls) {
        const lastTools = calls.slice(-MOST_TOOLS).map(({ tool }) => tool)
        earlier = { toolCalls: calls.length, lastTools }
      }
      for (const { id, tool, input } of calls) if (tool === PROGRESS_TOOL) takeReport(id, toProgressReport(input))
      tell(toCalled(), phase)
    },
    spend: (tokens) => tell({ tokens: known.tokens + tokens }, phase),
    handedBack: () => handedBack,
    release: stopListening,
  }
}
