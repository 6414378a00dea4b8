import { isMeanwhileError, toErrorMessage } from "../base/error.ts"
import type { ToolReturn } from "../plugin/tool.ts"
import type { TurnRun } from "../runner/turn/turn-run.ts"
import { afterTurn, followModel } from "./turn/take-new-turn.ts"
import { type Conversation, noteRunning, occupy } from "./conversation/conversation.ts"
import { openConversation } from "./create-session.ts"
import type { StoredLog } from "./log/stored-log.ts"
import { toTurnPatch } from "./log/stored-turn.ts"
import { followLeftReport } from "./report/left-report.ts"
import type { ConversationScope } from "./conversation/scope.ts"
import { tellTurnCompleted } from "./saved/session-plugin.ts"
import { takeTurn } from "./turn/take-turn.ts"
import { openLeftBudget } from "./turn/turn-budget.ts"

/** Continues a turn that the runner took from the queue: its worker is gone, or handed it back. */
export async function continueTurn(scope: ConversationScope, run: TurnRun): Promise<ToolReturn> {
  return toTurnPatch(await continueInPlace(scope, run))
}

/** Continues the turn in its place in the conversation's queue. */
async function continueInPlace(scope: ConversationScope, run: TurnRun): Promise<string> {
  const conversation = await openConversation(scope, run.origin.session, run.origin.workspace)
  const turned = conversation.queue.done.then(() => take(scope, conversation, run))
  turned.catch((error: unknown) => {
    // Another worker goes on with the turn.
    if (run.isHandedBack() || isMeanwhileError(error, "stale_claim")) return
    const fields = { session: run.origin.session, error: toErrorMessage(error) }
    scope.log.warn("a turn that was continued did not come to its end", fields)
  })
  // The conversation stays occupied until the turn's end is in the store.
  const ended = run.ended.then(async (task) => {
    if (task?.status === "completed") await tellTurnCompleted(scope, conversation)
    // No account here has the calls before the crash.
    await afterTurn(scope, conversation, { isContinued: true })
  })
  occupy(conversation, ended)
  return turned
}

async function take(scope: ConversationScope, conversation: Conversation, run: TurnRun): Promise<string> {
  const log = conversation.log as StoredLog
  noteRunning(conversation, run.taskId)
  const text = Promise.withResolvers<string>()
  text.promise.catch(() => {})
  try {
    await followLeftReport(scope, conversation, run, text.promise)
    const taken = await log.continueTurn(run, async (turn) => {
      await followModel(scope, conversation)
      return takeTurn(scope, conversation, turn, { budget: await openLeftBudget(scope, run) })
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
