import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import type { AskingRun } from "../../plugin/context.ts"
import type { ChildSession } from "../../plugin/sessions-port.ts"
import type { SessionId } from "../../task/id.ts"
import { type HeldChildScope, toChild } from "./create-child.ts"
import { takeRoom } from "./child-limits.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { Session } from "../conversation/session.ts"
import type { Using } from "../conversation/scope.ts"

/** The agent of an earlier run of the same task. Whatever a call names, it gets no conversation but its own. */
export async function reopenChild(
  scope: HeldChildScope,
  parent: Conversation,
  run: AskingRun | null,
  id: SessionId,
): Promise<ChildSession> {
  const { workspace } = parent.log
  const own = run && (await scope.children.agents.find({ id: run.taskId, workspace }))
  if (own !== id) throw expired(id)
  const session = await (parent.log.isKept ? openKept(scope, parent, id) : openUnkept(scope, parent, id))
  if (!session) throw expired(id)
  return toChild(scope, session, { run, isFound: true })
}

async function openKept(scope: Using<"children">, { log }: Conversation, id: SessionId): Promise<Session | null> {
  try {
    return await scope.children.open(id, log.workspace)
  } catch (error) {
    if (isMeanwhileError(error, "not_found")) return null
    throw error
  }
}

/** It was put away at the end of the run before, with all that was said in it. */
async function openUnkept(
  scope: Using<"bus" | "children" | "config" | "open">,
  parent: Conversation,
  id: SessionId,
): Promise<Session | null> {
  const conversation = scope.children.agents.recall(id)
  if (!conversation) return null
  if (scope.open.get(id) !== conversation) {
    const giveBack = takeRoom(scope, parent)
    scope.open.add(conversation)
    giveBack()
    scope.children.onChild(id, parent.log.id)
    const { name } = conversation.log.data
    conversation.emitter.emit({ type: "agent.created", name, parent: parent.log.id, model: conversation.model.id })
  }
  return scope.children.open(id, parent.log.workspace)
}

function expired(session: SessionId): MeanwhileError {
  const message = `The conversation ${session} of this agent no longer exists. Start a new agent, and tell it what it has to know.`
  return new MeanwhileError("expired", message, { session })
}
