import { toErrorMessage } from "../../base/error.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { AgentScope } from "../conversation/scope.ts"
import { readSessionState } from "./session-state.ts"

/** A turn has come to its end. A plugin that cannot save costs nobody the answer. */
export async function tellTurnCompleted(scope: AgentScope, conversation: Conversation): Promise<void> {
  const { sessionPlugin } = conversation
  if (!sessionPlugin?.onTurnCompleted) return
  try {
    await sessionPlugin.onTurnCompleted(await readSessionState(scope, conversation))
  } catch (error) {
    scope.log.warn("a session could not be saved", { plugin: sessionPlugin.name, error: toErrorMessage(error) })
  }
}
