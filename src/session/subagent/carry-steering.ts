import { isMeanwhileError } from "../../base/error.ts"
import type { AskingRun } from "../../plugin/context.ts"
import type { SessionId } from "../../task/id.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { readSaid } from "../results/steering-messages.ts"
import { parseSessionData } from "../log/session-data.ts"
import { toSaidCollection } from "../log/settle-operations.ts"
import type { Using } from "../conversation/scope.ts"

/** The messages to the agent in the run before this one, oldest first. */
export async function readSaidBefore(
  scope: Using<"children" | "open" | "store">,
  { taskId, run, workspace }: AskingRun,
): Promise<readonly string[]> {
  const before = run > 1 ? await scope.children.agents.find({ id: taskId, workspace }) : null
  if (before === null) return []
  const unheard = await readSaid(scope, { id: before, workspace })
  return [...(await readSteered(scope, before)), ...unheard.map(({ text }) => text)]
}

/**
 * A retry begins in a conversation of its own: what was said to the agent in the one before, whether it had heard it or
 * not, is left for it there, and told first. Dying before the commit: the run is made again and does it. After it: the
 * messages are there, and the same commit is refused.
 */
export async function carrySaid(scope: Using<"store">, texts: readonly string[], child: Conversation): Promise<void> {
  const { id, workspace, position } = child.log
  if (texts.length === 0 || position > 0) return
  const collection = toSaidCollection(id)
  const puts = texts.map((text, place) => {
    const document = `carried-${String(place).padStart(6, "0")}`
    return { op: "document.put", workspace, collection, id: document, value: { text }, expectedVersion: 0 } as const
  })
  try {
    await scope.store.commit(puts)
  } catch (error) {
    if (!isMeanwhileError(error, "version_conflict")) throw error
  }
  child.hasNews = true
}

async function readSteered(scope: Using<"children" | "open" | "store">, id: SessionId): Promise<readonly string[]> {
  const here = scope.open.get(id) ?? scope.children.agents.recall(id)
  if (here) return here.log.data.steered ?? []
  const record = await scope.store.session(id)
  return record ? (parseSessionData(record.data).steered ?? []) : []
}
