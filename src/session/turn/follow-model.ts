import { toErrorMessage } from "../../base/error.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { Using } from "../conversation/scope.ts"

/**
 * Goes on with the model that the session has now: another process may have chosen it. One that cannot be used here is left.
 * Undefined: it is the one that is used already.
 */
export function followModel(
  scope: Using<"defaultModel" | "log" | "models" | "registry">,
  conversation: Conversation,
): Promise<void> | undefined {
  const model = conversation.log.data.model || scope.defaultModel()
  return model === conversation.model.id ? undefined : changeModel(scope, conversation, model)
}

async function changeModel(
  scope: Using<"log" | "models" | "registry">,
  conversation: Conversation,
  model: string,
): Promise<void> {
  try {
    const connected = await scope.models.connect(model)
    await scope.registry.welcome(model)
    conversation.model = connected
  } catch (error) {
    const fields = { session: conversation.log.id, model, error: toErrorMessage(error) }
    scope.log.warn("a model that was chosen elsewhere cannot be used here", fields)
  }
}
