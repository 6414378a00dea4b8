import { NO_TOKENS } from "../../plugin/token-usage.ts"
import { contextUsage } from "../conversation/context.ts"
import { toCostMicros } from "../model/model-cost.ts"
import { recordCall } from "../conversation/record-call.ts"
import { unansweredCalls } from "./mend-history.ts"
import type { TurnScope } from "./turn-scope.ts"

/**
 * A model call was in flight when the turn's worker ended. It is made again; both have cost something. One that left
 * before the answers it was asked about were durable is not known here: the log ends before it. Durable before the call is
 * made again, which may be lost too.
 */
export async function noteLostCall(scope: TurnScope): Promise<void> {
  const { agents, conversation, turn } = scope
  const { log, emitter, model } = conversation
  if (unansweredCalls(log.history).length > 0) return
  const usage = { ...NO_TOKENS, inputTokens: contextUsage(agents, conversation).usedTokens }
  const { price } = agents.catalogue.factsOf(model.id)
  const costMicros = price === null ? null : toCostMicros(price, usage)
  const entry = { turn: turn.taskId, task: turn.askedBy, model: model.id, usage, costMicros, purpose: "lost" } as const
  recordCall(agents, conversation, entry)
  await turn.save({ entries: [{ kind: "paid", entry }] })
  emitter.emit({ type: "content.reset", reason: "the turn goes on after an interruption" })
}
