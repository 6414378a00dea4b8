import type { SessionId, WorkspaceId } from "../../task/id.ts"

export interface SelectionOwner {
  readonly workspace: WorkspaceId
  readonly session: SessionId | null
}

/** Which references each conversation has taken in. In memory: their text is in the conversation itself. */
export interface ReferenceSelection {
  of(owner: SelectionOwner): ReadonlySet<string>
  add(owner: SelectionOwner, ids: readonly string[]): void
}

const MOST_CONVERSATIONS = 1_000

export function createReferenceSelection(): ReferenceSelection {
  const selected = new Map<string, ReadonlySet<string>>()
  const toKey = ({ workspace, session }: SelectionOwner): string => `${workspace}\0${session ?? ""}`
  return {
    of: (owner) => selected.get(toKey(owner)) ?? new Set(),
    add: (owner, ids) => {
      const key = toKey(owner)
      const all = new Set([...(selected.get(key) ?? []), ...ids])
      selected.delete(key)
      selected.set(key, all)
      const [oldest] = selected.keys()
      if (selected.size > MOST_CONVERSATIONS && oldest !== undefined) selected.delete(oldest)
    },
  }
}
