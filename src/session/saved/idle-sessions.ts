import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { Notice } from "../../task/notice.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"
import { LIVE_STATUSES } from "../../task/lifecycle.ts"
import type { SessionRecord } from "../../task/session.ts"
import type { Using } from "../conversation/scope.ts"
import { readFamily } from "../log/read-log.ts"
import { readDocumentsOf } from "./delete-conversation.ts"

type RetentionScope = Using<"clock" | "log" | "open" | "runner" | "store">

/** How many sessions one look reads. */
const MOST_LOOKED_AT = 200
const MOST_NOTICES = 100

/**
 * Deletes the conversations that nobody has used for longer than `retentionMs`. Each call looks at a few, through the index
 * of their last change, and the next one goes on behind them: one that has to stay hides none.
 */
export function createSessionRetention(scope: RetentionScope, retentionMs: number): () => Promise<void> {
  let last: WorkspaceId | null = null
  let place: { readonly workspace: WorkspaceId; readonly cursor: string | undefined } | undefined

  async function nextPlace(): Promise<typeof place> {
    const [workspace] = await scope.store.sessionWorkspaces(last, 1)
    return workspace === undefined ? undefined : { workspace, cursor: undefined }
  }

  return async () => {
    const idleSince = scope.clock.now() - retentionMs
    let deleted = 0
    for (let left = MOST_LOOKED_AT; left > 0; left -= 1) {
      place ??= await nextPlace()
      if (!place) {
        last = null
        break
      }
      const { workspace, cursor } = place
      const filter = { workspace, parent: null, changedBefore: idleSince }
      const page = await scope.store.sessions(filter, { limit: left, ...(cursor !== undefined && { cursor }) })
      for (const record of page.items) if (await tryToDelete(scope, record, idleSince)) deleted += 1
      left -= page.items.length
      if (page.cursor === undefined) last = workspace
      place = page.cursor === undefined ? undefined : { workspace, cursor: page.cursor }
    }
    if (deleted > 0) scope.log.info("conversations that nobody used any more were deleted", { count: deleted })
  }
}

/** One that cannot be deleted keeps no other from it. */
async function tryToDelete(scope: RetentionScope, record: SessionRecord, idleSince: number): Promise<boolean> {
  try {
    return await deleteIdle(scope, record, idleSince)
  } catch (error) {
    if (isMeanwhileError(error, "store_gone") || isMeanwhileError(error, "closed")) throw error
    scope.log.warn("an idle conversation could not be deleted", { session: record.id, error: toErrorMessage(error) })
    return false
  }
}

/** True if it is gone. One that is open here, with something that goes on or that nobody was told yet, stays. */
async function deleteIdle(
  scope: RetentionScope,
  { id, workspace }: SessionRecord,
  idleSince: number,
): Promise<boolean> {
  if (scope.open.has(id)) return false
  const family = await readFamily(scope.store, workspace, [id])
  if (family.some((session) => scope.open.has(session))) return false
  for (const session of family) if (await hasSomethingLeft(scope, workspace, session)) return false
  const documents = (await Promise.all(family.map((session) => readDocumentsOf(scope, workspace, session)))).flat()
  if (family.some((session) => scope.open.has(session))) return false
  // The store looks once more, together with the deletion.
  return scope.runner.deleteIdleSessions(family, { idleSince, documents })
}

async function hasSomethingLeft(
  { store }: Using<"store">,
  workspace: WorkspaceId,
  session: SessionId,
): Promise<boolean> {
  const live = await store.tasks({ session, statuses: LIVE_STATUSES }, { limit: 1 })
  if (live.items.length > 0) return true
  const states = ["pending", "claimed"] as const
  const told = ["wake", "next_turn"] as const
  const notices = await store.notices({ workspace, session, states, notify: told }, MOST_NOTICES)
  if (notices.length === MOST_NOTICES) return true
  const isUntold = await Promise.all(notices.map((notice) => willBeTold(store, notice)))
  return isUntold.some(Boolean)
}

/** False for a member of a group that reports nothing: nobody is ever told of it. */
async function willBeTold(store: Using<"store">["store"], { taskId }: Notice): Promise<boolean> {
  const group = (await store.task(taskId))?.group ?? null
  return group === null || (await store.group(group))?.report !== "none"
}
