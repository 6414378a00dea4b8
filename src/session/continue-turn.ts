import { isMeanwhileError, toErrorMessage } from "../base/error.ts"
import { handBack, type ToolReturn } from "../plugin/tool-return.ts"
import type { TurnRun } from "../runner/turn/turn-run.ts"
import { afterTurn } from "./turn/after-turn.ts"
import { type Conversation, occupy } from "./conversation/conversation.ts"
import { openConversation } from "./create-session.ts"
import { followModel } from "./turn/follow-model.ts"
import type { StoredLog } from "./log/stored-log.ts"
import { createNewMessage } from "./conversation/new-message.ts"
import { followLeftReport } from "./report/left-report.ts"
import type { AgentScope } from "./conversation/scope.ts"
import { tellTurnCompleted } from "./saved/tell-session-plugin.ts"
import { takeTurn } from "./turn/take-turn.ts"
import { openLeftBudget } from "./turn/left-budget.ts"

const DIGEST_CHARACTERS = 400

/** Takes a turn that the runner has begun: one that was sent here, or one whose worker is gone. */
export async function continueTurn(scope: AgentScope, run: TurnRun): Promise<ToolReturn> {
  const taker = scope.takers.get(run.taskId)
  const text = taker ? await taker(run) : await continueLeft(scope, run)
  return handBack({ digest: toDigest(text), facts: {}, artifacts: [], nextSteps: [], payload: null })
}

async function continueLeft(scope: AgentScope, run: TurnRun): Promise<string> {
  const conversation = await openConversation(scope, run.session, run.workspace)
  const turned = conversation.queue.then(() => take(scope, conversation, run))
  turned.catch((error: unknown) => {
    // Somebody else goes on with it.
    if (run.isHandedBack() || isMeanwhileError(error, "stale_claim")) return
    const fields = { session: run.session, error: toErrorMessage(error) }
    scope.log.warn("a turn that was continued did not come to its end", fields)
  })
  // Whatever comes next finds the session idle only when the turn's end is in the store.
  const ended = run.ended.then(async (task) => {
    if (task?.status === "completed") await tellTurnCompleted(scope, conversation)
    // What it called before is in nobody's account.
    await afterTurn(scope, conversation, { isContinued: true })
  })
  occupy(conversation, ended)
  return turned
}

async function take(scope: AgentScope, conversation: Conversation, run: TurnRun): Promise<string> {
  const log = conversation.log as StoredLog
  conversation.current = { abort: new AbortController(), taskId: run.taskId, reason: null }
  conversation.newMessage = createNewMessage()
  if (conversation.waitingMessages > 0) conversation.newMessage.abort()
  const text = Promise.withResolvers<string>()
  text.promise.catch(() => {})
  try {
    await followLeftReport(scope, conversation, run, text.promise)
    const taken = await log.continueTurn(run, async (turn) => {
      await followModel(scope, conversation)
      return takeTurn(scope, conversation, turn, undefined, await openLeftBudget(scope, run))
    })
    text.resolve(taken)
    return taken
  } catch (error) {
    text.reject(error)
    throw error
  } finally {
    conversation.current = null
  }
}

function toDigest(text: string): readonly string[] {
  if (text === "") return []
  return [text.length > DIGEST_CHARACTERS ? `${text.slice(0, DIGEST_CHARACTERS - 1)}…` : text]
}
