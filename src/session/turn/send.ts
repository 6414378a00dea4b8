import type { AgentEvent, OutputMode, OutputSource } from "../../plugin/agent-event.ts"
import type { FilePart, Message } from "../../plugin/message.ts"
import { enrichPrompt } from "../../plugin/prompt-enrichment.ts"
import { beginWhenFree } from "./begin-when-free.ts"
import { toContextTexts } from "./context-texts.ts"
import { type Conversation, inTurn } from "../conversation/conversation.ts"
import { toSessionInfo } from "../conversation/context.ts"
import { readTelling, type Telling, toTellingText, toTold, useTelling } from "../results/pending-context.ts"
import type { LogChange } from "../log/open-turn.ts"
import { requireContent, requireRoom, toUserMessage } from "./said-message.ts"
import type { AgentScope } from "../conversation/scope.ts"
import type { SendOptions, TurnResult } from "../conversation/session.ts"
import { type NewTurn, takeNewTurn } from "./take-new-turn.ts"
import { mendHistory } from "./mend-history.ts"
import { createTurnBudget, toBudgetMetadata } from "./turn-budget.ts"

const TITLE_CHARACTERS = 80
const CUT_OFF = "The turn before was cut off before this call was answered."

/** One turn: the person's message, enriched, with what has ended meanwhile, to the model's last word. */
export async function send(
  scope: AgentScope,
  conversation: Conversation,
  message: string,
  options: SendOptions = {},
): Promise<TurnResult> {
  let isWaiting = false
  const startWaiting = (): void => {
    if (!isWaiting) conversation.waitingMessages += 1
    isWaiting = true
  }
  const stopWaiting = (): void => {
    if (isWaiting) conversation.waitingMessages -= 1
    isWaiting = false
  }
  const begin = (onBegun: () => void) =>
    inTurn(conversation, () => {
      stopWaiting()
      return sendNow(scope, conversation, message, { ...options, onBegun })
    })
  startWaiting()
  conversation.newMessage.abort()
  try {
    const waitsElsewhere = options.whenBusyElsewhere !== "refuse"
    const holding = { signal: options.signal, waitsElsewhere, onHeld: startWaiting }
    return await beginWhenFree(scope, conversation, begin, holding)
  } finally {
    stopWaiting()
  }
}

async function sendNow(
  scope: AgentScope,
  conversation: Conversation,
  message: string,
  options: SendOptions & Pick<NewTurn, "onBegun">,
): Promise<TurnResult> {
  requireContent(message, options)
  const { onOutput, budget: left, idempotencyKey, said = message } = options
  let prompt = message
  const unsubscribe = onOutput ? conversation.emitter.onOutput(toOutput(conversation, onOutput)) : undefined
  try {
    return await takeNewTurn(scope, conversation, {
      title: toTitle(said),
      parentTask: options.parentTask ?? null,
      traceId: options.traceId,
      signal: options.signal,
      // A turn below a task is stopped because that is.
      ...(options.parentTask && { stopper: "lifetime" as const }),
      metadata: toBudgetMetadata(left),
      ...(options.onBegun && { onBegun: options.onBegun }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      ...(left && { createBudget: () => createTurnBudget({ left, clock: scope.clock }) }),
      prepare() {
        const enriching = enrich(scope, conversation, message)
        return enriching?.then((enriched) => void (prompt = enriched))
      },
      toBeginning(history) {
        const texts = [...toContextTexts(options.context), prompt]
        return toBeginning(scope, conversation, history, { said, texts, files: options.files ?? [] })
      },
    })
  } finally {
    unsubscribe?.()
  }
}

interface MessageParts {
  readonly said: string
  /** What was said as the model reads it, behind what it is told beside it. */
  readonly texts: readonly string[]
  readonly files: readonly FilePart[]
}

/** What was said, with what has ended meanwhile before it. */
async function toBeginning(
  scope: AgentScope,
  conversation: Conversation,
  history: readonly Message[],
  { said, texts, files }: MessageParts,
): Promise<LogChange> {
  const toMessage = (telling: Telling): Message =>
    toUserMessage([toTellingText(scope, conversation, telling), ...texts], files)
  const found = await readTelling(scope, conversation)
  requireRoom(scope, conversation, toMessage(found))
  const told = await useTelling(scope, conversation, found)
  const mended = mendHistory(history, CUT_OFF).map((message) => ({ kind: "message", message, turn: null }) as const)
  const { settles, data } = toTold(conversation, told)
  return {
    entries: [...mended, { kind: "message", message: toMessage(told), turn: null, said }],
    ...(settles && { settles }),
    data: { ...data, ...(conversation.log.data.wakes && { wakes: 0 }) },
  }
}

/** Undefined: nobody wants to. */
function enrich(scope: AgentScope, conversation: Conversation, message: string): Promise<string> | undefined {
  const enrichers = scope.registry.promptEnrichers(conversation.model.id)
  return enrichers.length === 0 ? undefined : enrichBy(enrichers, scope, conversation, message)
}

async function enrichBy(
  enrichers: Parameters<typeof enrichPrompt>[0],
  { log }: AgentScope,
  conversation: Conversation,
  message: string,
): Promise<string> {
  const { prompt, failures } = await enrichPrompt(enrichers, message, { session: toSessionInfo(conversation) })
  for (const [plugin, error] of Object.entries(failures)) log.warn("a prompt was not enriched", { plugin, error })
  return prompt
}

/** What this agent itself says; deltas of a text come before the text as a whole, which is then not repeated. */
function toOutput({ log }: Conversation, onOutput: NonNullable<SendOptions["onOutput"]>) {
  let hasDeltas = false
  let speaker: OutputSource | null = null
  const tell = (source: OutputSource, text: string, mode: OutputMode): void => {
    onOutput(source, text, source === speaker ? mode : "write")
    speaker = source
  }
  return (event: AgentEvent): void => {
    if (event.agent !== log.id) return
    if (event.type === "content.delta") {
      tell(event.source, event.text, "append")
      hasDeltas ||= event.source === "model"
    } else if (event.type === "agent.output") {
      if (event.source !== "model" || !hasDeltas) tell(event.source, event.text, event.mode)
      if (event.source === "model") endText()
    } else if (event.type === "content.reset") {
      endText()
    }
  }
  function endText(): void {
    hasDeltas = false
    speaker = null
  }
}

function toTitle(message: string): string {
  const line = message.replace(/\s+/g, " ").trim()
  return line.length > TITLE_CHARACTERS ? `${line.slice(0, TITLE_CHARACTERS - 1)}…` : line || "(empty message)"
}
