import { MeanwhileError } from "../../base/error.ts"
import { type Message, userMessage } from "../../plugin/message.ts"
import type { TaskId } from "../../task/id.ts"
import type { ContextScope } from "../conversation/context.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { Using } from "../conversation/scope.ts"
import type { RetryOptions, TurnResult } from "../conversation/session.ts"
import { isClosingOf } from "../log/closing-message.ts"
import { applyEntry, type LogEntry } from "../log/log-entry.ts"
import type { TurnBeginning } from "../log/session-log.ts"
import { readPending, toPendingText, toTold, usePending } from "../results/pending-context.ts"
import { type AskedOptions, type AskedScope, takeAsked } from "./take-asked.ts"
import { CUT_OFF, mendHistory } from "./tool-answer.ts"

/**
 * Takes the last turn again, as another turn on the same messages: nothing that was said, called or answered is said again.
 * If the process dies before the commit that begins it, nothing happened; after it, the turn goes on at the next start.
 */
export function retryTurn(
  scope: AskedScope,
  conversation: Conversation,
  options: RetryOptions & Pick<AskedOptions, "onStored">,
): Promise<TurnResult> {
  return takeAsked(scope, conversation, { ...options, isNews: false }, () => ({
    title: "retry",
    toBeginning: (history) => toBeginning(scope, conversation, history),
  }))
}

async function toBeginning(
  scope: ContextScope & Using<"store">,
  conversation: Conversation,
  history: readonly Message[],
): Promise<TurnBeginning> {
  const last = await findLastTurn(scope, conversation)
  if (!last) throw refusal(conversation, "nothing was said in it yet")
  if (last.hasCompleted) throw refusal(conversation, "its last turn has completed")
  const isClosed = history.some((message) => isClosingOf(message, last.id))
  const reopening: readonly LogEntry[] = isClosed ? [{ kind: "reopened", turn: last.id }] : []
  const reopened = reopening.reduce(applyEntry, history)
  const mended = mendHistory(reopened, CUT_OFF)
  const question = mended.at(-1) ?? reopened.at(-1)
  if (!question) throw refusal(conversation, "nothing was said since it was emptied")
  if (question.role === "assistant") throw refusal(conversation, "the agent has spoken since its last turn")
  const found = await readPending(scope, conversation)
  const pending = found && (await usePending(scope, conversation, found))
  const news = pending ? toPendingText(scope, conversation, pending) : ""
  const messages = [...mended, ...(news === "" ? [] : [userMessage(news)])]
  const told = messages.map((message) => ({ kind: "message", message, turn: null, said: null }) as const)
  const data = conversation.log.data.wakes ? { wakes: 0 } : {}
  return {
    entries: [...reopening, ...told],
    ...(pending ? toTold(conversation, pending, data) : { data }),
    ...(last.title !== null && { title: last.title }),
  }
}

interface LastTurn {
  readonly id: TaskId
  readonly hasCompleted: boolean
  /** Null where no record keeps it. */
  readonly title: string | null
}

/** The newest turn of the session, of whichever process. */
async function findLastTurn({ store }: Using<"store">, { log, turns }: Conversation): Promise<LastTurn | undefined> {
  if (!log.isKept) {
    const last = turns.at(-1)
    return last && { id: last.turn, hasCompleted: last.outcome === "completed", title: null }
  }
  const filter = { workspace: log.workspace, session: log.id, kinds: ["turn"] } as const
  const [last] = (await store.tasks(filter, { limit: 1 })).items
  return last && { id: last.id, hasCompleted: last.status === "completed", title: last.title }
}

function refusal({ log: { id: session } }: Conversation, why: string): MeanwhileError {
  const message = `Session ${session} has no turn to take again: ${why}. Send a message instead.`
  return new MeanwhileError("wrong_state", message, { session })
}
