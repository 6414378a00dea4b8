import type { Act } from "../../plugin/context.ts"
import type { ModelPort } from "../../plugin/model-port.ts"
import type { TaskId } from "../../task/id.ts"
import { type Conversation, inTurn } from "./conversation.ts"
import type { PaidCall } from "../log/log-entry.ts"
import { toCostMicros } from "../model/model-cost.ts"
import { orWarn } from "./or-warn.ts"
import type { Using } from "./scope.ts"
import { context } from "@opentelemetry/api"
import { unlessAborted } from "../../base/unless-aborted.ts"
import type { ModelRequest, ProviderResponse } from "../../plugin/model.ts"
import { toCounted } from "../../plugin/token-usage.ts"
import { toErrorType, type Trace } from "../../runner/run/trace.ts"
import { beginChatSpan, toResponseAttributes } from "./telemetry.ts"

export interface Generated {
  readonly response: ProviderResponse
  /** The model that answered. By then the conversation may use another one. */
  readonly model: string
}

/** Asks the conversation's model once, in one span. Ends when the signal aborts, whatever the model does. */
export async function generate(
  conversation: Conversation,
  parent: Trace | string | null,
  request: ModelRequest,
): Promise<Generated> {
  const { model } = conversation
  const span = beginChatSpan(conversation, parent, request)
  try {
    const answer = await context.with(span.context, () => unlessAborted(request.signal, model.generate(request)))
    const response = { ...answer, usage: toCounted(answer.usage) }
    span.end(toResponseAttributes(response))
    return { response, model: model.id }
  } catch (error) {
    span.end({}, request.signal.aborted ? undefined : toErrorType(error))
    throw error
  }
}

/** Counts a model call in the ledger, in the turn's budget and for the call that pays for a subagent. Returns what it cost. */
export function recordCall(
  scope: Using<"clock" | "ledger" | "models">,
  conversation: Conversation,
  { turn, task, model, usage, purpose }: Omit<PaidCall, "costMicros">,
  { isLast = false }: { readonly isLast?: boolean } = {},
): PaidCall {
  const { price } = scope.models.factsOf(model)
  const costMicros = price === null ? null : toCostMicros(price, usage)
  const entry = { turn, task, model, usage, costMicros, purpose }
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
      const generated = await asker.act(() => generate(conversation, asker.traceId ?? null, request))
      account(scope, conversation, generated, { turn: current?.id ?? null, task: asker.task ?? null })
      return generated.response
    },
  }
}

/** Counts the call. During a turn it is written with the turn's next change, otherwise now. */
function account(
  scope: Using<"clock" | "ledger" | "log" | "models">,
  conversation: Conversation,
  { response, model }: Generated,
  { turn, task }: { readonly turn: TaskId | null; readonly task: TaskId | null },
): void {
  const { log } = conversation
  log.paid.add(recordCall(scope, conversation, { turn, task, model, usage: response.usage, purpose: "helper" }))
  if (conversation.current) return
  const settle = () => inTurn(conversation, () => log.paid.settle())
  void orWarn(scope, "what a model call cost could not be stored", { session: log.id }, settle)
}
