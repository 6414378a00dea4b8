import { context } from "@opentelemetry/api"
import { unlessAborted } from "../../base/unless-aborted.ts"
import type { ModelRequest, ProviderResponse } from "../../plugin/model.ts"
import { toCounted } from "../../plugin/token-usage.ts"
import { toErrorType, type Trace } from "../../runner/run/trace.ts"
import type { Conversation } from "./conversation.ts"
import { beginChatSpan, toResponseAttributes } from "./telemetry.ts"

export interface Generated {
  readonly response: ProviderResponse
  /** The model that answered. By then the conversation may use another one. */
  readonly model: string
}

/** Asks the conversation's model once, in one span. Ends with the signal, whatever the model does. */
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
