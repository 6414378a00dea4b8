import { toErrorMessage } from "../../base/error.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { Using } from "../conversation/scope.ts"

/**
 * Whatever came of it: the groups that its calls opened get no more members, and what it had claimed without keeping it is
 * looked at again. Dying before it: done when the session is opened next.
 */
export async function afterTurn(
  scope: Using<"log" | "runner" | "watch">,
  conversation: Conversation,
  { isContinued = false }: { readonly isContinued?: boolean } = {},
): Promise<void> {
  // It was handed back: it goes on at the next start, or in another process.
  if (conversation.log.data.turn !== null) return
  conversation.hasNews ||= conversation.hasTasks
  if (!isContinued && !hasStarted(scope, conversation)) return
  conversation.hasTasks = true
  scope.watch()
  await sealGroups(scope, conversation)
}

/** A turn's calls start tasks in this process; a turn that goes on after a crash may have tasks of another process. */
function hasStarted({ runner }: Using<"runner">, { turns, log }: Conversation): boolean {
  return (turns.at(-1)?.toolCalls ?? 0) > 0 && runner.hasWorkOf(log.id)
}

export async function sealGroups(
  { runner, log }: Using<"log" | "runner">,
  { log: { id: session } }: Conversation,
): Promise<void> {
  try {
    await runner.sealGroups(session)
  } catch (error) {
    log.warn("the groups of a session could not be sealed", { session, error: toErrorMessage(error) })
  }
}
