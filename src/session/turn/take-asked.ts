import type { AgentEvent, OutputMode, OutputSource } from "../../plugin/agent-event.ts"
import type { OutputForm } from "../../plugin/output-schema.ts"
import { toOptionalId } from "../../task/given-id.ts"
import { type Conversation, inTurn } from "../conversation/conversation.ts"
import { toModelSettings } from "../conversation/model-settings.ts"
import type { Using } from "../conversation/scope.ts"
import type { SendOptions, TurnResult } from "../conversation/session.ts"
import { beginWhenFree } from "./begin-when-free.ts"
import { isBusyHere, refuseUnlessOver } from "./busy-here.ts"
import { refuseWhileAway } from "./refuse-while-away.ts"
import { type NewTurn, type NewTurnScope, takeNewTurn } from "./take-new-turn.ts"
import { requireTools, toAskMetadata, type TurnAsk } from "./turn-ask.ts"
import { createTurnBudget, toBudgetMetadata } from "./turn-budget.ts"
import { createTypedOutput } from "./typed-output.ts"

export type AskedScope = NewTurnScope & Using<"bus">

/** The options of whoever asks for a turn, without those about the message. */
export interface AskedOptions extends Omit<SendOptions, "context" | "files" | "said">, Pick<NewTurn, "onStored"> {
  /** The form that the answer must have. */
  readonly form?: OutputForm
  /** True if somebody says something new: whatever the turn before waits for, it is told. */
  readonly isNews: boolean
}

/** The beginning of an asked turn. */
export type AskedBeginning = Pick<NewTurn, "title" | "prepare" | "toBeginning">

/**
 * Takes a turn that somebody asked for, in its place among the conversation's turns, here and elsewhere. Its beginning is
 * made when the turn has its place.
 */
export async function takeAsked(
  scope: AskedScope,
  conversation: Conversation,
  options: AskedOptions,
  toAsked: () => AskedBeginning,
): Promise<TurnResult> {
  const { messages } = conversation
  const isRefusedWhenBusy = options.whenBusy === "refuse"
  while (isRefusedWhenBusy && isBusyHere(conversation)) await refuseUnlessOver(scope, conversation)
  let isWaiting = false
  const startWaiting = (): void => {
    if (!isWaiting) messages.count += 1
    isWaiting = true
  }
  const stopWaiting = (): void => {
    if (isWaiting) messages.count -= 1
    isWaiting = false
  }
  const begin = (onBegun: () => void, onWriting: () => void) =>
    inTurn(conversation, () => {
      stopWaiting()
      return takeNow(scope, conversation, options, { ...toAsked(), onBegun, onWriting })
    })
  startWaiting()
  if (options.isNews) messages.newMessage.abort()
  try {
    const holding = { signal: options.signal, isRefusedWhenBusy, onHeld: startWaiting }
    const take = (onWriting: () => void) =>
      beginWhenFree(scope, conversation, (onBegun) => begin(onBegun, onWriting), holding)
    return await (options.whenStoreAway === "refuse" ? refuseWhileAway(scope, take) : take(() => {}))
  } finally {
    stopWaiting()
  }
}

async function takeNow(
  scope: AskedScope,
  conversation: Conversation,
  options: AskedOptions,
  asked: AskedBeginning & { readonly onBegun: () => void; readonly onWriting: () => void },
): Promise<TurnResult> {
  const { onOutput, budget: left, idempotencyKey, whenStoreAway: whenAway, onStored } = options
  const parentTask = toOptionalId("task", options.parentTask, "parentTask")
  const output = options.form ? createTypedOutput(options.form) : null
  const ask: TurnAsk = { settings: toModelSettings(options), output }
  const unsubscribe = onOutput ? conversation.emitter.onOutput(toOutput(conversation, onOutput)) : undefined
  try {
    return await takeNewTurn(scope, conversation, {
      title: asked.title,
      parentTask,
      traceId: options.traceId,
      signal: options.signal,
      onBegun: asked.onBegun,
      // A turn below a task is stopped because the task is.
      ...(parentTask && { stopper: "parent" as const }),
      ask,
      metadata: { ...(left && toBudgetMetadata(left)), ...toAskMetadata(scope.redactor, ask) },
      ...(onStored && { onStored }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      ...(whenAway && { whenAway }),
      ...(left && { createBudget: () => createTurnBudget({ left, clock: scope.clock }) }),
      ...(asked.prepare && { prepare: asked.prepare }),
      async toBeginning(history) {
        requireTools(scope, conversation, ask)
        const beginning = await asked.toBeginning(history)
        asked.onWriting()
        return beginning
      },
    })
  } finally {
    unsubscribe?.()
  }
}

/** Passes on this agent's own output. A text that came in deltas is not repeated as a whole. */
function toOutput({ log }: Conversation, onOutput: NonNullable<SendOptions["onOutput"]>) {
  let hasDeltas = false
  let speaker: OutputSource | null = null
  const tell = (source: OutputSource, text: string, mode: OutputMode): unknown => {
    const own = source === speaker ? mode : "write"
    speaker = source
    return onOutput(source, text, own)
  }
  const endText = (): void => {
    hasDeltas = false
    speaker = null
  }
  return (event: AgentEvent): unknown => {
    if (event.agent !== log.id) return undefined
    if (event.type === "content.delta") {
      hasDeltas ||= event.source === "model"
      return tell(event.source, event.text, "append")
    }
    if (event.type === "agent.output") {
      const told = event.source !== "model" || !hasDeltas ? tell(event.source, event.text, event.mode) : undefined
      if (event.source === "model") endText()
      return told
    }
    if (event.type === "content.reset") endText()
    return undefined
  }
}
