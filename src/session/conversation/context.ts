import { MeanwhileError } from "../../base/error.ts"
import type { ModelTool } from "../../plugin/model.ts"
import type { ContextUsage } from "../../plugin/context-usage.ts"
import type { ListedSession } from "../../plugin/sessions-port.ts"
import { describeThreshold } from "../../plugin/describe-tool.ts"
import type { SessionId } from "../../task/id.ts"
import { type Conversation, inTurn } from "./conversation.ts"
import { estimateText, estimateTokens, estimateTools } from "../model/token-estimate.ts"
import type { SessionData } from "../log/session-data.ts"
import type { SessionLog } from "../log/session-log.ts"
import type { OfferedTool } from "../model/tool-list.ts"
import type { Using } from "./scope.ts"

/** The parts of the scope that the system prompt, the offered tools and the size of the context depend on. */
export type ContextScope = Using<"config" | "models" | "registry" | "tools">

export function offeredTools(scope: Using<"tools">, { log, model }: Conversation): readonly OfferedTool[] {
  return scope.tools.offers({ tools: log.data.tools, model: model.id, isBelow: log.data.parent !== null })
}

/** The offered tools as a request describes them. */
export function toldTools(scope: Using<"tools">, conversation: Conversation): readonly ModelTool[] {
  return scope.tools.toldOf(offeredTools(scope, conversation))
}

/**
 * The system prompt: instructions of the configuration, the session and the plugins, and when calls move to the background.
 */
export function systemPrompt(scope: Using<"config" | "registry" | "tools">, conversation: Conversation): string {
  const { registry, config } = scope
  const { log, model } = conversation
  const fromPlugins = registry.systemInstructions(model.id).map(({ text }) => text)
  const offered = offeredTools(scope, conversation).map(({ found }) => found.tool)
  const threshold = describeThreshold(offered, config.background.thresholdSeconds * 1_000)
  return [config.agent.instructions, log.data.instructions, threshold, ...fromPlugins]
    .filter((text) => text !== "")
    .join("\n\n")
}

/** The provider's last count plus an estimate of what came after it; all of it an estimate before the first answer. */
export function contextUsage(scope: ContextScope, conversation: Conversation): ContextUsage {
  const { log, model } = conversation
  const { measured, turns, turnsBeforeReset = 0 } = log.data
  const limitTokens = model.contextLimitTokens ?? scope.models.factsOf(model.id).contextLimitTokens
  const isMeasured = measured !== null && measured.messages <= log.history.length
  const known = isMeasured ? measured : { tokens: estimateBeginning(scope, conversation), messages: 0 }
  const since = log.history.slice(known.messages).reduce((sum, message) => sum + estimateTokens(message), 0)
  const usedTokens = known.tokens + since
  return { usedTokens, limitTokens, percentUsed: (usedTokens / limitTokens) * 100, turns: turns - turnsBeforeReset }
}

/**
 * The data of a session whose history is emptied. What is left, the system prompt and the tools, never counts as more than
 * the provider last counted for all: the estimate is lowered as far as it was too high for the whole context.
 */
export function toResetData(scope: ContextScope, conversation: Conversation): Partial<SessionData> {
  const { measured, turns } = conversation.log.data
  if (measured === null) return { measured, turnsBeforeReset: turns }
  const left = estimateBeginning(scope, conversation)
  const whole = conversation.log.history.reduce((sum, message) => sum + estimateTokens(message), left)
  const share = Math.min(1, contextUsage(scope, conversation).usedTokens / Math.max(1, whole))
  return { measured: { tokens: Math.floor(left * share), messages: 0 }, turnsBeforeReset: turns }
}

/**
 * Refuses work on a closed session. Called in the work's place in the queue, so that work asked for before the close is
 * still done.
 */
export function requireOpen({ open }: Using<"open">, conversation: Conversation): void {
  const { id } = conversation.log
  if (open.get(id) === conversation) return
  throw toClosed(id)
}

export function toClosed(id: SessionId): MeanwhileError {
  return new MeanwhileError("closed", `Session ${id} is closed. Open it again to go on with it.`, { session: id })
}

/** The tokens of the system prompt and the tools. */
function estimateBeginning(scope: Using<"config" | "registry" | "tools">, conversation: Conversation): number {
  return estimateText(systemPrompt(scope, conversation)) + estimateTools(toldTools(scope, conversation))
}

export function toSessionInfo(log: Pick<SessionLog, "id" | "workspace" | "data" | "times" | "labels">): ListedSession {
  const { id, workspace, data, times } = log
  const { name, description, turns } = data
  const { metadata, title } = log.labels()
  const { createdAt, updatedAt } = times
  return { id, workspace, name, title: title ?? data.title, description, turns, createdAt, updatedAt, metadata }
}

/** Sets the session's description. A model does so in the middle of a turn, a person at any time. */
export async function describe(conversation: Conversation, description: string): Promise<void> {
  if (conversation.current) conversation.log.amend({ description })
  else await inTurn(conversation, () => conversation.log.write({ entries: [], data: { description } }))
}
