import type { SessionId, WorkspaceId } from "../../task/id.ts"
import type { Operation } from "../../task/operation.ts"
import type { Settlement } from "./session-log.ts"

/**
 * Operations for the commit that tells the model: they mark its notices as used and delete the messages left for the agent.
 */
export function toSettleOperations(
  { notices, said }: Settlement,
  { id, workspace }: { readonly id: SessionId; readonly workspace: WorkspaceId },
): readonly Operation[] {
  const collection = toSaidCollection(id)
  return [
    ...(notices.length > 0 ? [{ op: "notice.consume", keys: notices, by: null } as const] : []),
    ...said.map((one) => ({ op: "document.delete", workspace, collection, id: one }) as const),
  ]
}

/** The collection in which messages to a working agent wait until the agent is told them. */
export function toSaidCollection(session: SessionId): string {
  return `said/${session}`
}
