import { context } from "@opentelemetry/api"
import { toErrorMessage } from "../base/error.ts"
import type { ModelPort } from "../plugin/model-port.ts"
import type { ModelRequest, ProviderResponse } from "../plugin/model.ts"
import { toErrorType } from "../runner/trace.ts"
import type { TaskId } from "../task/id.ts"
import { type Conversation, inTurn } from "./conversation.ts"
import { toCostMicros } from "./model-cost.ts"
import type { AgentScope } from "./scope.ts"
import { beginChatSpan, toResponseAttributes } from "./telemetry.ts"

/** Who a plugin's own call of the model is for. */
export interface ModelAsker {
  readonly signal: AbortSignal
  readonly task?: TaskId | null
  readonly traceId?: string | null
}

/** The conversation's model for a plugin's own use, without tools. What it uses is in the ledger and in the record. */
export function createModelPort(scope: AgentScope, conversation: Conversation, asker: ModelAsker): ModelPort {
  const { model, current } = conversation
  return {
    id: model.id,
    async generate({ system = "", messages, maxOutputTokens, signal }) {
      const response = await generate(conversation, asker, {
        system,
        messages,
        tools: [],
        signal: signal ? AbortSignal.any([signal, asker.signal]) : asker.signal,
        ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      })
      account(scope, conversation, response, { turn: current?.taskId ?? null, task: asker.task ?? null })
      return response
    },
  }
}

async function generate(
  conversation: Conversation,
  { traceId = null }: ModelAsker,
  request: ModelRequest,
): Promise<ProviderResponse> {
  const span = beginChatSpan(conversation, traceId, request)
  try {
    const response = await context.with(span.context, () => conversation.model.generate(request))
    span.end(toResponseAttributes(response))
    return response
  } catch (error) {
    span.end({}, request.signal.aborted ? undefined : toErrorType(error))
    throw error
  }
}

/** During a turn the record has it with what the turn writes next; otherwise it is written now. */
function account(
  scope: AgentScope,
  conversation: Conversation,
  { usage }: ProviderResponse,
  { turn, task }: { readonly turn: TaskId | null; readonly task: TaskId | null },
): void {
  const { log, model } = conversation
  const { price } = scope.catalogue.factsOf(model.id)
  const costMicros = price === null ? null : toCostMicros(price, usage)
  const entry = { turn, task, model: model.id, usage, costMicros, purpose: "helper" } as const
  scope.ledger.record({ ...entry, at: scope.clock.now(), session: log.id })
  log.pay(entry)
  if (conversation.current) return
  inTurn(conversation, () => log.settlePaid()).catch((error: unknown) => {
    scope.log.warn("what a model call cost could not be stored", { session: log.id, error: toErrorMessage(error) })
  })
}
