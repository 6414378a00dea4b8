import { context } from "@opentelemetry/api"
import { MeanwhileError } from "../../base/error.ts"
import type { FunctionCall, ToolResult } from "../../plugin/message.ts"
import { findNearNames } from "../../plugin/near-name.ts"
import type { Answer, Execution } from "../../plugin/task-service.ts"
import { offeredTools } from "../conversation-context.ts"
import { beginSpan, type Trace } from "../telemetry.ts"
import { findOffered } from "./call-step.ts"
import { summarize, toErrorResult, toToolResult } from "./tool-answer.ts"
import type { TurnScope } from "./turn-scope.ts"

/** Runs one call of the model. Never rejects: whatever goes wrong is the answer. */
export async function executeCall(scope: TurnScope, call: FunctionCall, stepKey: string): Promise<ToolResult> {
  const { agents, conversation, account } = scope
  const { emitter } = conversation
  const { id: callId, tool, input } = call
  const startedMs = agents.clock.monotonic()
  const span = beginSpan(scope.trace, `execute_tool ${tool}`, {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": tool,
    "gen_ai.tool.call.id": callId,
  })
  account.toolCalls += 1
  if (emitter.isHeard) emitter.emit({ type: "tool_call.started", callId, tool, input })
  const { result, answer } = await perform(scope, call, stepKey, span)
  const taskId = answer?.outcome === "promoted" ? answer.task.id : null
  if (taskId) conversation.hasTasks = true
  span.end(taskId ? { "meanwhile.task.id": taskId } : {}, result.isError ? "the call failed" : undefined)
  if (emitter.isHeard) {
    const durationMs = agents.clock.monotonic() - startedMs
    const summary = summarize(result)
    emitter.emit({ type: "tool_call.ended", callId, tool, isSuccess: !result.isError, durationMs, taskId, summary })
  }
  return result
}

async function perform(
  scope: TurnScope,
  call: FunctionCall,
  stepKey: string,
  span: Trace,
): Promise<{ readonly result: ToolResult; readonly answer: Answer | null }> {
  try {
    await scope.turn.requireOwned()
    const execution = begin(scope, call, stepKey, span)
    const answer = await followed(scope, execution)
    return { result: toToolResult(call, answer, scope.agents.config.toolResultLimitCharacters), answer }
  } catch (error) {
    return { result: toErrorResult(call, error), answer: null }
  }
}

function begin(scope: TurnScope, call: FunctionCall, stepKey: string, span: Trace): Execution {
  const { agents, conversation, turn } = scope
  const { log, emitter, model } = conversation
  const offered = findOffered(scope, call)
  if (!offered) throw unknownTool(scope, call)
  const askedBy = turn.askingStep(stepKey)
  const toolCall = {
    tool: call.tool,
    plugin: offered.found.plugin,
    input: call.input,
    workspace: log.workspace,
    session: log.id,
    parentTask: turn.callParent,
    traceId: scope.trace.traceId,
    ...(offered.found.tool.kind === "agent" && { model: model.id }),
    ...(askedBy && { askedBy }),
  }
  const options = emitter.isHeard ? { onOutput: toToolOutput(scope) } : {}
  return context.with(span.context, () => agents.runner.execute(toolCall, options))
}

function toToolOutput({ conversation }: TurnScope): (text: string) => void {
  return (text) => conversation.emitter.emit({ type: "agent.output", source: "tool", text, mode: "append" })
}

/** A stop of the turn stops the call with it; its answer says so. */
async function followed({ turn }: TurnScope, execution: Execution): Promise<Answer> {
  const { signal } = turn
  const stop = (): void => execution.cancel({ by: "person", reason: turn.stopReason ?? "the turn was stopped" })
  if (signal.aborted) stop()
  signal.addEventListener("abort", stop)
  try {
    return await execution.answer
  } finally {
    signal.removeEventListener("abort", stop)
  }
}

function unknownTool({ agents, conversation }: TurnScope, { tool }: FunctionCall): MeanwhileError {
  const names = offeredTools(agents, conversation).map(({ name }) => name)
  const near = findNearNames(tool, names)
  const hint =
    near.length > 0 ? `Did you mean ${near.join(", ")}?` : `The tools here are: ${names.join(", ") || "none"}.`
  return new MeanwhileError("unknown_tool", `There is no tool ${tool} in this session. ${hint}`, { tool })
}
