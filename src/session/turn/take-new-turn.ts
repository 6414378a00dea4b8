import type { TurnServices } from "./turn-scope.ts"
import { isMeanwhileError, MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { toErrorType } from "../../runner/run/trace.ts"
import type { Requester } from "../../task/stop.ts"
import { type Conversation, NEVER, noteRunning, type RunningTurn } from "../conversation/conversation.ts"
import { requireOpen } from "../conversation/context.ts"
import type { TurnOpening } from "../log/session-log.ts"
import type { TurnResult } from "../conversation/session.ts"
import { cancelTurn, stopTurn } from "../conversation/stop-turn.ts"
import { beginTurnTrace, type TurnTrace } from "../conversation/telemetry.ts"
import { tellTurnCompleted } from "../saved/session-plugin.ts"
import { takeTurn } from "./take-turn.ts"
import type { TurnAsk } from "./turn-ask.ts"
import type { TurnBudget } from "./turn-budget.ts"
import { orWarn } from "../conversation/or-warn.ts"
import type { Using } from "../conversation/scope.ts"

/** The parts of the scope that a turn that begins here uses. */
export type NewTurnScope = TurnServices & Using<"open">

/** A turn that begins here: of a person, a report or a subagent. */
export interface NewTurn
  extends Pick<
    TurnOpening,
    "toBeginning" | "title" | "parentTask" | "idempotencyKey" | "metadata" | "onBegun" | "onStored" | "whenAway"
  > {
  readonly traceId?: string | undefined
  /** As in an opening, but called once the conversation has the model that the session has now. */
  readonly prepare?: TurnOpening["prepare"]
  readonly signal?: AbortSignal | undefined
  /** In whose name the signal stops the turn. Default: a person. */
  readonly stopper?: Requester
  readonly createBudget?: () => TurnBudget | null
  /** Default: what the turn's metadata says. */
  readonly ask?: TurnAsk
}

/** Takes a turn from its beginning to its durable end. Called in its place in the conversation's queue. */
export async function takeNewTurn(
  scope: NewTurnScope,
  conversation: Conversation,
  newTurn: NewTurn,
): Promise<TurnResult> {
  const { signal = NEVER, stopper } = newTurn
  scope.open.closing.throwIfAborted()
  requireOpen(scope, conversation)
  signal.throwIfAborted()
  const current = noteRunning(conversation, null)
  const stop = (): void => void stopTurn(scope, conversation, toErrorMessage(signal.reason), stopper)
  signal.addEventListener("abort", stop, { once: true })
  try {
    const text = await takeTraced(scope, conversation, newTurn, current)
    const accounting = conversation.turns.at(-1)
    if (!accounting) throw new MeanwhileError("wrong_state", "The turn ended without an account.")
    if (conversation.sessionPlugin) await tellTurnCompleted(scope, conversation)
    const outcome = accounting.outcome === "completed" ? "completed" : "stopped"
    return { turn: accounting.turn, outcome, text, accounting }
  } catch (error) {
    const isRefused = isMeanwhileError(error, "session_busy") || isMeanwhileError(error, "wrong_state")
    const isUnbegun = current.taskId === null && isRefused
    // A stop while the turn tried to begin wins over the refusal: the message does not wait for another try.
    throw isUnbegun && current.reason !== null ? current.abort.signal.reason : error
  } finally {
    conversation.current = null
    signal.removeEventListener("abort", stop)
    await afterTurn(scope, conversation)
  }
}

/** The turn's span begins before its record, so that the record can name the trace. */
async function takeTraced(
  scope: NewTurnScope,
  conversation: Conversation,
  newTurn: NewTurn,
  current: RunningTurn,
): Promise<string> {
  const trace = beginTurnTrace(conversation, newTurn.traceId)
  try {
    return await trace.within(() => take(scope, conversation, newTurn, { current, trace }))
  } catch (error) {
    trace.end({}, toErrorType(error))
    throw error
  }
}

async function take(
  scope: NewTurnScope,
  conversation: Conversation,
  newTurn: NewTurn,
  { current, trace }: { readonly current: RunningTurn; readonly trace: TurnTrace },
): Promise<string> {
  const { log } = conversation
  let stopping: Promise<void> | undefined
  return log.turn({
    ...newTurn,
    traceId: trace.traceId,
    current,
    prepare() {
      const following = followModel(scope, conversation)
      return following ? following.then(newTurn.prepare) : newTurn.prepare?.()
    },
    onBegun(id) {
      current.id = id
      newTurn.onBegun?.(id)
      if (!log.isKept) return
      current.taskId = id
      if (current.reason === null) return
      // The turn was stopped while it began. It stops here, whether or not the store takes the stop.
      const request = { by: newTurn.stopper ?? "person", reason: current.reason }
      scope.runner.abortTurn(id, request)
      stopping = cancelTurn(scope, log, id, request)
    },
    async take(turn) {
      if (stopping) await stopping
      return takeTurn(scope, conversation, turn, { trace, budget: newTurn.createBudget?.() ?? null, ask: newTurn.ask })
    },
  })
}

/**
 * Switches to the model that the session has now: another process may have chosen it. If it cannot be used here, the old
 * model stays. Undefined if the model has not changed.
 */
export function followModel(scope: Using<"log" | "models">, conversation: Conversation): Promise<void> | undefined {
  const model = conversation.log.data.model || scope.models.defaultModel
  if (model === conversation.model.id) return undefined
  const fields = { session: conversation.log.id, model }
  return orWarn(scope, "a model that was chosen elsewhere cannot be used here", fields, async () => {
    conversation.model = await scope.models.use(model)
  })
}

/**
 * Seals the groups that the turn's calls opened, and has results looked for that the turn claimed and did not keep, however
 * the turn ended. If the process dies first, the next opening of the session does this.
 */
export async function afterTurn(
  scope: Using<"log" | "open" | "runner">,
  conversation: Conversation,
  { isContinued = false }: { readonly isContinued?: boolean } = {},
): Promise<void> {
  // The turn was handed back: it goes on at the next start, or in another process.
  if (conversation.log.data.turn !== null) return
  conversation.hasNews ||= conversation.hasTasks
  if (!isContinued && !hasStarted(scope, conversation)) return
  scope.open.noteTasks(conversation)
  await sealGroups(scope, conversation)
}

/** A turn's calls start tasks in this process; a turn that goes on after a crash may have tasks of another process. */
function hasStarted({ runner }: Using<"runner">, { turns, log }: Conversation): boolean {
  return (turns.at(-1)?.toolCalls ?? 0) > 0 && runner.hasWorkOf(log.id)
}

export function sealGroups(scope: Using<"log" | "runner">, { log: { id: session } }: Conversation): Promise<void> {
  const seal = () => scope.runner.sealGroups(session)
  return orWarn(scope, "the groups of a session could not be sealed", { session }, seal)
}
