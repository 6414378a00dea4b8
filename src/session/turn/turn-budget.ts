import type { Clock } from "../../base/clock.ts"
import type { JsonObject } from "../../base/json.ts"
import type { AgentBudget } from "../../plugin/agent-request.ts"
import { NO_USAGE, type Usage } from "../../task/progress.ts"
import type { TurnRun } from "../../runner/turn/turn-run.ts"
import { readTurns } from "../log/read-log.ts"
import type { Using } from "../conversation/scope.ts"
import type { Message } from "../../plugin/message.ts"
import type { OpenTurn } from "../log/session-log.ts"

/** The budget of one turn. */
export interface TurnBudget {
  /** Counts a model call of the conversation while the turn runs. */
  spend(usage: Usage): void
  /** Says which part of the budget is used up; null while every part has some left. */
  over(): string | null
  /** Aborts when the turn's time is over: the model's answer is no longer waited for. */
  readonly timeOver: AbortSignal
  close(): void
}

export interface TurnBudgetOptions {
  /** The rest of the agent's budget when the turn began. */
  readonly left: AgentBudget
  readonly clock: Clock
  /** The turn's usage before a crash or a shutdown. */
  readonly spentBefore?: Usage & { readonly timeMs: number }
}

export function createTurnBudget({ left, clock, spentBefore }: TurnBudgetOptions): TurnBudget {
  const { tokens, costMicros } = spentBefore ?? NO_USAGE
  let spent: Usage = { tokens, costMicros }
  const time = new AbortController()
  const end = (): void => time.abort(new Error("its time is over"))
  const leftMs = left.timeMs === undefined ? undefined : left.timeMs - (spentBefore?.timeMs ?? 0)
  const cancelTimer = leftMs !== undefined && leftMs > 0 ? clock.schedule(leftMs, end) : undefined
  if (leftMs !== undefined && leftMs <= 0) end()
  return {
    spend(usage) {
      spent = { tokens: spent.tokens + usage.tokens, costMicros: spent.costMicros + usage.costMicros }
    },
    over() {
      if (left.tokens !== undefined && spent.tokens >= left.tokens) return "its budget of tokens is used up"
      if (left.costMicros !== undefined && spent.costMicros >= left.costMicros) return "its budget of money is used up"
      return time.signal.aborted ? "its time is over" : null
    },
    timeOver: time.signal,
    close: () => cancelTimer?.(),
  }
}

/** The budget in a turn's record, for the process that continues the turn after a crash. */
export function toBudgetMetadata(budget: AgentBudget): JsonObject {
  return { budget: { ...budget } }
}

export function readBudgetMetadata(metadata: JsonObject): AgentBudget | undefined {
  const { budget } = metadata
  return typeof budget === "object" && budget !== null ? (budget as unknown as AgentBudget) : undefined
}

/** The budget of a turn that goes on after its worker is gone; null if the turn had none. */
export async function openLeftBudget(
  { store, clock }: Using<"clock" | "store">,
  run: TurnRun,
): Promise<TurnBudget | null> {
  const task = await store.task(run.taskId)
  const left = task && readBudgetMetadata(task.metadata)
  if (!left) return null
  const { usage, costMicros } = await readTurns(store, run.origin.session, new Set([run.taskId]))
  const spentBefore = { tokens: usage.inputTokens + usage.outputTokens, costMicros, timeMs: task.ranMs }
  return createTurnBudget({ left, clock, spentBefore })
}

/** The key of our mark in a part's metadata. Providers ignore metadata that is not theirs. */
const MARK = "meanwhile"
const LAST_MESSAGE = "Answer now with what you have. You have no tools any more, and this is your last message."

/**
 * Says which part of the budget is used up; null while every part has some left. Once the model was told, the answer stays
 * the same, even if a crash lost the count.
 */
export function findOver(budget: TurnBudget, history: readonly Message[]): string | null {
  const last = history.at(-1)
  return budget.over() ?? (last ? findBudgetEnd(last) : null)
}

/** Tells the model that its budget is used up, once, however often the last call is made. */
export async function tellBudgetEnd(turn: OpenTurn, history: readonly Message[], over: string): Promise<void> {
  const last = history.at(-1)
  if (last && findBudgetEnd(last) !== null) return
  const text = `[Meanwhile: your work ends here, because ${over}.] ${LAST_MESSAGE}`
  const part = { type: "text", text, metadata: { [MARK]: { budgetEnd: over } } } as const
  const message: Message = { role: "user", parts: [part] }
  await turn.save({ entries: [{ kind: "message", message, turn: turn.id, said: null }] })
}

/**
 * The reason in a message that ended a turn's work; null for any other message. It is in the metadata, so that no text can
 * pass for one.
 */
export function findBudgetEnd({ role, parts }: Message): string | null {
  const [part] = role === "user" ? parts : []
  const mark = part?.metadata?.[MARK]
  if (typeof mark !== "object" || mark === null || !("budgetEnd" in mark)) return null
  return typeof mark["budgetEnd"] === "string" ? mark["budgetEnd"] : null
}
