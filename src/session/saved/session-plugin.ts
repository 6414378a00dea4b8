import type { SessionPlugin } from "../../plugin/session-plugin.ts"
import { type Conversation, inTurn } from "../conversation/conversation.ts"
import { createSessionDirectory, type DirectoryScope } from "./directory.ts"
import { readRestored, readSessionState, restoreDocuments } from "./session-state.ts"
import { orWarn } from "../conversation/or-warn.ts"
import type { Using } from "../conversation/scope.ts"

/** Switches to another session plugin, whose tools, commands and enrichment take part from now on. */
export async function useSessionPlugin(
  scope: DirectoryScope & Using<"registry">,
  conversation: Conversation,
  plugin: SessionPlugin | null,
): Promise<void> {
  if (plugin) await offer(scope, plugin)
  conversation.sessionPlugin = plugin
  await inTurn(conversation, () => startSessionPlugin(scope, conversation))
}

/**
 * Tells the session plugin of the session. It may hand back a saved conversation to go on with. If it fails, the session
 * goes on without.
 */
export async function startSessionPlugin(scope: DirectoryScope, conversation: Conversation): Promise<void> {
  const { log, sessionPlugin } = conversation
  await orWarn(scope, "a session plugin could not be told of a session", { session: log.id }, async () => {
    const saved = await sessionPlugin?.onSessionStarted?.(log.id, createSessionDirectory(scope, log.workspace))
    if (!saved || saved.messages.length === 0 || log.position > 0) return
    const { messages, description, turns, data: plugins } = saved
    const entry = { kind: "collection", messages, summary: "Restored from what was saved." } as const
    const restored = await readRestored(scope, saved)
    await log.write({ entries: [entry], data: { description, turns, plugins, ...restored } })
    if (restored.backgroundResults) conversation.hasTasks = true
    await restoreDocuments(scope, conversation, saved)
  })
}

/** Registers the plugin, in place of one of the same name. */
async function offer({ registry }: Using<"registry">, plugin: SessionPlugin): Promise<void> {
  const known = registry.list({ kind: "session" }).find(({ name }) => name === plugin.name)
  if (known?.plugin === plugin) return
  if (known) await registry.unregister(plugin.name)
  await registry.register(plugin)
}

/** Tells the session plugin that a turn has ended. If the plugin cannot save, the answer is not lost. */
export async function tellTurnCompleted(
  scope: Using<"log" | "redactor" | "store">,
  conversation: Conversation,
): Promise<void> {
  const { sessionPlugin } = conversation
  if (!sessionPlugin?.onTurnCompleted) return
  await orWarn(scope, "a session could not be saved", { plugin: sessionPlugin.name }, async () => {
    await sessionPlugin.onTurnCompleted?.(await readSessionState(scope, conversation))
  })
}
