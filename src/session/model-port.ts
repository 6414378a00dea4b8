import type { ModelPort } from "../plugin/model-port.ts"
import type { Conversation } from "./conversation.ts"
import { toCostMicros } from "./model-cost.ts"
import type { AgentScope } from "./scope.ts"

/** The conversation's model for a plugin's own use, without tools. What it uses is in the ledger. */
export function createModelPort(scope: AgentScope, conversation: Conversation, signal: AbortSignal): ModelPort {
  const { model, log, current } = conversation
  return {
    id: model.id,
    async generate({ system = "", messages, maxOutputTokens, signal: own }) {
      const response = await model.generate({
        system,
        messages,
        tools: [],
        signal: own ? AbortSignal.any([own, signal]) : signal,
        ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      })
      const { price } = scope.catalogue.factsOf(model.id)
      scope.ledger.record({
        at: scope.clock.now(),
        session: log.id,
        turn: current?.taskId ?? null,
        task: null,
        model: model.id,
        usage: response.usage,
        costMicros: price === null ? null : toCostMicros(price, response.usage),
        purpose: "helper",
      })
      return response
    },
  }
}
