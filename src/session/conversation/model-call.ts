import type { Act } from "../../plugin/context.ts"
import type { ModelPort } from "../../plugin/model-port.ts"
import type { TaskId } from "../../task/id.ts"
import { type Conversation, inTurn } from "./conversation.ts"
import type { PaidCall } from "../log/log-entry.ts"
import { toCostMicros } from "../model/model-cost.ts"
import { orWarn } from "./or-warn.ts"
import type { Using } from "./scope.ts"
import { unlessAborted } from "../../base/unless-aborted.ts"
import type { ModelRequest, ProviderResponse } from "../../plugin/model.ts"
import { NO_TOKENS, toCounted, type TokenUsage } from "../../plugin/token-usage.ts"
import { isMeanwhileError } from "../../base/error.ts"
import { estimateRequest, estimateText } from "../model/token-estimate.ts"
import { toErrorType, type Trace } from "../../runner/run/trace.ts"
import { beginChatSpan, toResponseAttributes } from "./telemetry.ts"

export interface Generated {
  readonly response: ProviderResponse
  /** The model that answered. By then the conversation may use another one. */
  readonly model: string
}

/** What is known of a model call that brought no answer. */
export type UnansweredCall = Required<Pick<PaidCall, "outcome" | "isEstimated">> &
  Pick<PaidCall, "model" | "usage" | "error">

interface Attempt {
  readonly parent: Trace | string | null
  /** Called before the call's error is thrown. */
  readonly onUnanswered: (call: UnansweredCall) => void
}

/** Asks the conversation's model once, in one span. Ends when the signal aborts, whatever the model does. */
export async function generate(
  conversation: Conversation,
  request: ModelRequest,
  { parent, onUnanswered }: Attempt,
): Promise<Generated> {
  const { model } = conversation
  request.signal.throwIfAborted()
  const span = beginChatSpan(conversation, parent, request)
  let received = ""
  const onDelta: ModelRequest["onDelta"] = (delta) => {
    received += delta.text
    request.onDelta?.(delta)
  }
  try {
    const answer = await span.within(() => unlessAborted(request.signal, model.generate({ ...request, onDelta })))
    const response = { ...answer, usage: toCounted(answer.usage) }
    span.end(toResponseAttributes(response))
    return { response, model: model.id }
  } catch (error) {
    const isAborted = request.signal.aborted
    span.end({}, isAborted ? undefined : toErrorType(error))
    const usage = isAborted || received !== "" ? estimateUsage(request, received) : NO_TOKENS
    const known = { model: model.id, usage, isEstimated: true } as const
    onUnanswered({ ...known, ...(isAborted ? { outcome: "aborted" } : { outcome: "failed", ...toCode(error) }) })
    throw error
  }
}

/** A provider that refused a call at once has read nothing of it; any other may charge for what it got and sent. */
function estimateUsage(request: ModelRequest, received: string): TokenUsage {
  return { ...NO_TOKENS, inputTokens: estimateRequest(request), outputTokens: estimateText(received) }
}

function toCode(error: unknown): Pick<PaidCall, "error"> {
  return isMeanwhileError(error) ? { error: error.code } : {}
}

/** Counts a model call in the ledger, in the turn's budget and for the call that pays for a subagent. Returns what it cost. */
export function recordCall(
  scope: Using<"clock" | "ledger" | "models">,
  conversation: Conversation,
  call: Omit<PaidCall, "costMicros">,
  { isLast = false }: { readonly isLast?: boolean } = {},
): PaidCall {
  const { model, usage } = call
  const { price } = scope.models.factsOf(model)
  const costMicros = price === null ? null : toCostMicros(price, usage)
  const entry = { ...call, costMicros }
  scope.ledger.record({ ...entry, at: scope.clock.now(), session: conversation.log.id })
  const tokens = usage.inputTokens + usage.outputTokens
  const spent = { tokens, costMicros: costMicros ?? 0 }
  conversation.current?.budget?.spend(spent)
  conversation.onSpent?.(spent, { isLast })
  return entry
}

/** The task and trace that a plugin's own model call belongs to. */
export interface ModelAsker {
  readonly signal: AbortSignal
  readonly act: Act
  readonly task?: TaskId | null
  readonly traceId?: string | null
}

/**
 * The conversation's model for a plugin's own use, without tools. Its usage goes to the ledger and to the session's record.
 */
export function createModelPort(
  scope: Using<"clock" | "ledger" | "log" | "models">,
  conversation: Conversation,
  asker: ModelAsker,
): ModelPort {
  const { model, current } = conversation
  return {
    id: model.id,
    async generate({ system = "", messages, maxOutputTokens, signal }) {
      const request = {
        system,
        messages,
        tools: [],
        signal: signal ? AbortSignal.any([signal, asker.signal]) : asker.signal,
        ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      }
      const own = { turn: current?.id ?? null, task: asker.task ?? null, purpose: "helper" } as const
      const parent = asker.traceId ?? null
      const onUnanswered = (call: UnansweredCall): void => account(scope, conversation, { ...own, ...call })
      const { response, model: asked } = await asker.act(() =>
        generate(conversation, request, { parent, onUnanswered }),
      )
      account(scope, conversation, { ...own, model: asked, usage: response.usage })
      return response
    },
  }
}

/** Counts the call. During a turn it is written with the turn's next change, otherwise now. */
function account(
  scope: Using<"clock" | "ledger" | "log" | "models">,
  conversation: Conversation,
  call: Omit<PaidCall, "costMicros">,
): void {
  const { log } = conversation
  log.paid.add(recordCall(scope, conversation, call))
  if (conversation.current) return
  const settle = () => inTurn(conversation, () => log.paid.settle())
  void orWarn(scope, "what a model call cost could not be stored", { session: log.id }, settle)
}
