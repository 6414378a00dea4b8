import type { FunctionCall } from "../../plugin/message.ts"
import type { ProviderResponse } from "../../plugin/model.ts"
import type { TokenUsage } from "../../plugin/token-usage.ts"
import { type Attributes, beginTrace, type Trace } from "../../runner/run/trace.ts"
import type { Conversation } from "./conversation.ts"

/** The span of a turn. It always has a trace id, so that the turn's tasks can be told from those of others. */
export interface TurnTrace extends Trace {
  readonly traceId: string
}

/** The names that the GenAI conventions give to providers, where they differ from ours. */
const PROVIDER_NAMES: Readonly<Record<string, string>> = { google: "gcp.gemini", vertex: "gcp.vertex_ai" }

/** Begins a turn's span in the named trace; without a name, below the active span, or in a trace of its own. */
export function beginTurnTrace({ log, model }: Conversation, traceId?: string | null): TurnTrace {
  const { name } = log.data
  const attributes = {
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": name,
    "gen_ai.agent.id": log.id,
    "gen_ai.conversation.id": log.id,
    ...toModelAttributes(model.id),
  }
  const trace = beginTrace({ name: `invoke_agent ${name}`, attributes }, traceId)
  return { ...trace, traceId: trace.traceId ?? createTraceId() }
}

/** The span of one attempt to ask the model: below the turn or, for a plugin's own call, below whatever is active. */
export function beginChatSpan(
  { log, model }: Conversation,
  parent: Trace | string | null,
  request: { readonly maxOutputTokens?: number | null; readonly temperature?: number | null },
): Trace {
  const { maxOutputTokens, temperature } = request
  const named = toModelAttributes(model.id)
  const attributes = {
    "gen_ai.operation.name": "chat",
    "gen_ai.conversation.id": log.id,
    ...named,
    ...(typeof maxOutputTokens === "number" && { "gen_ai.request.max_tokens": maxOutputTokens }),
    ...(typeof temperature === "number" && { "gen_ai.request.temperature": temperature }),
  }
  const start = { name: `chat ${named["gen_ai.request.model"]}`, attributes, isRequest: true } as const
  return parent !== null && typeof parent === "object" ? parent.begin(start) : beginTrace(start, parent)
}

/** The model chooses the tool's name, so a name that no tool has is not put into a span. */
export function beginToolSpan(parent: Trace, { id, tool }: FunctionCall, isKnown: boolean): Trace {
  const attributes = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.type": "function",
    "gen_ai.tool.call.id": id,
    ...(isKnown && { "gen_ai.tool.name": tool }),
  }
  return parent.begin({ name: isKnown ? `execute_tool ${tool}` : "execute_tool", attributes })
}

export function toResponseAttributes({ usage, finish }: ProviderResponse): Attributes {
  return { ...toUsageAttributes(usage), "gen_ai.response.finish_reasons": [finish] }
}

export function toUsageAttributes(usage: TokenUsage): Attributes {
  return {
    "gen_ai.usage.input_tokens": usage.inputTokens,
    "gen_ai.usage.cache_read.input_tokens": usage.cachedInputTokens,
    "gen_ai.usage.output_tokens": usage.outputTokens,
    "gen_ai.usage.reasoning.output_tokens": usage.reasoningTokens,
  }
}

/** `provider/name`, where the name may have slashes of its own. */
function toModelAttributes(id: string) {
  const slash = id.indexOf("/")
  const provider = id.slice(0, Math.max(slash, 0))
  return {
    "gen_ai.provider.name": PROVIDER_NAMES[provider] ?? provider,
    "gen_ai.request.model": id.slice(slash + 1),
  }
}

/** Without a tracer of the program's own, tasks of one turn are still told apart from others. */
function createTraceId(): string {
  return crypto.randomUUID().replaceAll("-", "")
}
