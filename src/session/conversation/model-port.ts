import { toErrorMessage } from "../../base/error.ts"
import type { ModelPort } from "../../plugin/model-port.ts"
import type { TaskId } from "../../task/id.ts"
import { type Conversation, inTurn } from "./conversation.ts"
import { type Generated, generate } from "./generate.ts"
import { toCostMicros } from "../model/model-cost.ts"
import { recordCall } from "./record-call.ts"
import type { Using } from "./scope.ts"

/** The task and trace that a plugin's own model call belongs to. */
export interface ModelAsker {
  readonly signal: AbortSignal
  readonly task?: TaskId | null
  readonly traceId?: string | null
}

/** The conversation's model for a plugin's own use, without tools. What it uses is in the ledger and in the record. */
export function createModelPort(
  scope: Using<"catalogue" | "clock" | "ledger" | "log">,
  conversation: Conversation,
  asker: ModelAsker,
): ModelPort {
  const { model, current } = conversation
  return {
    id: model.id,
    async generate({ system = "", messages, maxOutputTokens, signal }) {
      const generated = await generate(conversation, asker.traceId ?? null, {
        system,
        messages,
        tools: [],
        signal: signal ? AbortSignal.any([signal, asker.signal]) : asker.signal,
        ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      })
      account(scope, conversation, generated, { turn: current?.taskId ?? null, task: asker.task ?? null })
      return generated.response
    },
  }
}

/** During a turn the record has it with what the turn writes next; otherwise it is written now. */
function account(
  scope: Using<"catalogue" | "clock" | "ledger" | "log">,
  conversation: Conversation,
  { response, model }: Generated,
  { turn, task }: { readonly turn: TaskId | null; readonly task: TaskId | null },
): void {
  const { log } = conversation
  const { usage } = response
  const { price } = scope.catalogue.factsOf(model)
  const costMicros = price === null ? null : toCostMicros(price, usage)
  const entry = { turn, task, model, usage, costMicros, purpose: "helper" } as const
  recordCall(scope, conversation, entry)
  log.pay(entry)
  if (conversation.current) return
  inTurn(conversation, () => log.settlePaid()).catch((error: unknown) => {
    scope.log.warn("what a model call cost could not be stored", { session: log.id, error: toErrorMessage(error) })
  })
}
