import { MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { FINISH_TOOL } from "../../plugin/agent-request.ts"
import type { FunctionCall, ToolResult } from "../../plugin/message.ts"
import { findNearNames } from "../../base/near-name.ts"
import type { Answer, Execution, ExecuteOptions } from "../../plugin/task-service.ts"
import { toErrorType, type Trace } from "../../runner/run/trace.ts"
import type { MessageId, TaskId } from "../../task/id.ts"
import { offeredTools } from "../conversation/context.ts"
import { beginToolSpan } from "../conversation/telemetry.ts"
import type { OfferedTool } from "../model/tool-list.ts"
import { type CallPlace, findOffered, toBackgroundAfterMs } from "./call-step.ts"
import { summarize, toErrorResult, toToolResult } from "./tool-answer.ts"
import { toShownInput } from "./shown-input.ts"
import type { TurnScope } from "./turn-scope.ts"
import type { PromotedAnswer } from "../../plugin/tool-hooks.ts"
import type { CancelTimer } from "../../base/clock.ts"
import type { Progress } from "../../task/progress.ts"

export interface ExecutedCall {
  readonly result: ToolResult
  /** Null if the call was refused or not tried. */
  readonly answer: Answer | null
  /** True once the call was admitted: from then on it may have done something. */
  readonly hasBegun: boolean
}

/** Runs one call of the model. Never rejects: whatever goes wrong is the answer. */
export async function executeCall(scope: TurnScope, place: CallPlace): Promise<ExecutedCall> {
  const { services, conversation, account } = scope
  const { emitter } = conversation
  const { call } = place
  const { id: callId, tool, input } = call
  const watch = watchCall(scope, place)
  const offered = findOffered(scope, call)
  const span = beginToolSpan(scope.trace, call, offered !== undefined)
  account.toolCalls += 1
  if (emitter.hears("tool_call.started")) {
    const afterMs = offered && toBackgroundAfterMs(scope, call, offered)
    emitter.emit({
      type: "tool_call.started",
      callId,
      tool,
      // A waiting agent takes the subagent's result from the input of `finish`, so that stays whole.
      input: tool === FINISH_TOOL ? input : toShownInput(services.redactor, input),
      ...(afterMs !== undefined && { backgroundAfterMs: afterMs }),
    })
  }
  const { result, answer, errorType } = await perform(scope, { place, offered, span, options: watch.options })
  watch.close()
  const promoted = answer?.outcome === "promoted" ? answer.task : null
  const taskId = promoted?.id ?? null
  if (taskId) services.open.noteTasks(conversation)
  const isAwaitingApproval = promoted?.status === "waiting" && promoted.wait.reason === "approval"
  span.end(taskId ? { "meanwhile.task.id": taskId } : {}, errorType)
  if (emitter.hears("tool_call.ended")) {
    emitter.emit({
      type: "tool_call.ended",
      callId,
      tool,
      isSuccess: !result.isError,
      isRefused: errorType === "permission_denied",
      durationMs: watch.ranMs(),
      taskId,
      ...(promoted?.limits.timeoutMs && { timeoutMs: promoted.limits.timeoutMs }),
      ...(watch.started.length > 0 && { started: watch.started }),
      ...(isAwaitingApproval && { isAwaitingApproval }),
      summary: summarize(result, answer),
    })
  }
  return { result, answer, hasBegun: watch.hasBegun() }
}

interface Attempt {
  readonly place: CallPlace
  readonly offered: OfferedTool | undefined
  readonly span: Trace
  readonly options: ExecuteOptions
}

async function perform(scope: TurnScope, attempt: Attempt) {
  const { call } = attempt.place
  try {
    const answer = await scope.turn.act(() => followed(scope, begin(scope, attempt)))
    return {
      result: toToolResult(call, answer, {
        limitCharacters: scope.services.config.agent.toolResultLimitCharacters,
        tellPromoted: (promoted) => tellPromoted(scope, promoted),
      }),
      answer,
      errorType: toAnswerError(answer),
    }
  } catch (error) {
    return { result: toErrorResult(call, error), answer: null, errorType: toErrorType(error) }
  }
}

/** A call that somebody stopped has not failed. */
function toAnswerError(answer: Answer): string | undefined {
  if (answer.outcome === "failed") return toErrorType(answer.failure.code)
  return answer.outcome === "timed_out" ? answer.outcome : undefined
}

function begin(scope: TurnScope, { offered, place, span, options }: Attempt): Execution {
  const { services, conversation, turn, hops } = scope
  const { log, model } = conversation
  const { call, position, key } = place
  if (!offered) throw unknownTool(scope, call)
  const askedBy = turn.askingStep(key)
  const parentMessage = `${log.id}/${position}`
  const toolCall = {
    tool: offered.found.tool.name,
    plugin: offered.found.plugin,
    input: call.input,
    workspace: log.workspace,
    session: log.id,
    parentTask: turn.taskId ?? turn.askedBy,
    traceId: scope.trace.traceId,
    parentMessage: parentMessage as MessageId,
    batch: parentMessage,
    ...(hops > 0 && { hops }),
    ...(offered.found.tool.kind === "agent" && { model: model.id }),
    ...(askedBy && { askedBy }),
  }
  return span.within(() => services.runner.execute(toolCall, options))
}

/** Stops the call when the turn is stopped; the call's answer says so. Until then a person can promote the call. */
async function followed({ turn, conversation }: TurnScope, execution: Execution): Promise<Answer> {
  const { signal } = turn
  const stop = (): void => execution.cancel({ by: "person", reason: turn.stopReason() ?? "the turn was stopped" })
  if (signal.aborted) stop()
  signal.addEventListener("abort", stop)
  const executions = conversation.current?.executions
  executions?.add(execution)
  try {
    return await execution.answer
  } finally {
    executions?.delete(execution)
    signal.removeEventListener("abort", stop)
  }
}

function unknownTool({ services, conversation }: TurnScope, { tool }: FunctionCall): MeanwhileError {
  const names = offeredTools(services, conversation).map(({ told }) => told.name)
  const near = findNearNames(tool, names)
  const hint =
    near.length > 0 ? `Did you mean ${near.join(", ")}?` : `The tools here are: ${names.join(", ") || "none"}.`
  return new MeanwhileError("unknown_tool", `There is no tool ${tool} in this session. ${hint}`, { tool })
}

/** The words of a plugin whose tools this session is offered; undefined if no plugin has any. */
function tellPromoted({ services, conversation }: TurnScope, promoted: PromotedAnswer): string | undefined {
  for (const teller of services.registry.promotionTellers()) {
    const isOffered = offeredTools(services, conversation).some(({ found }) => found.plugin === teller.plugin)
    if (!isOffered) continue
    try {
      const text = teller.tellPromoted(promoted)
      if (text !== undefined) return text
    } catch (error) {
      // The task goes on, even if a plugin fails to tell of it.
      services.log.warn("a plugin failed to tell of a promoted call", { error: toErrorMessage(error) })
    }
  }
  return undefined
}

const PROGRESS_EVERY_MS = 100

/** Emits the events of one call between its start and its end. */
function watchCall({ services: { clock }, conversation }: TurnScope, place: CallPlace) {
  const { emitter } = conversation
  const { id: callId, tool } = place.call
  let beganMs = clock.monotonic()
  const started: TaskId[] = []
  let isAsked = false
  let isAdmitted = false
  let newest: Progress | null = null
  let cancelTelling: CancelTimer | null = null

  function tellProgress(): void {
    cancelTelling = null
    if (newest) emitter.emit({ type: "tool_call.progressed", callId, tool, progress: newest })
  }

  const options: ExecuteOptions = {
    onStarted: (task) => void started.push(task),
    onAsked() {
      isAsked = true
      emitter.emit({ type: "tool_call.asked", callId, tool })
      return place.noteAsked()
    },
    onDecided: ({ isAllowed }) => place.noteDecided(isAllowed),
    onAdmitted() {
      isAdmitted = true
      if (!isAsked) return
      beganMs = clock.monotonic()
      emitter.emit({ type: "tool_call.allowed", callId, tool })
    },
    ...(emitter.hears("agent.output") && {
      onOutput: (text: string) => emitter.emit({ type: "agent.output", source: "tool", text, mode: "append", callId }),
    }),
    ...(emitter.hears("tool_call.progressed") && {
      onProgress(progress: Progress) {
        newest = progress
        cancelTelling ??= clock.schedule(PROGRESS_EVERY_MS, tellProgress, { isBackground: true })
      },
    }),
  }
  return {
    options,
    /** Tasks that the call has started so far. */
    started: started as readonly TaskId[],
    /** True once the call was admitted. */
    hasBegun: () => isAdmitted,
    /** Milliseconds since the call began or, if a person was asked about it, since it was allowed. */
    ranMs: () => clock.monotonic() - beganMs,
    close: () => cancelTelling?.(),
  }
}
