import type { TaskId } from "../../../task/id.ts"
import type { Query } from "../connection/database.ts"
import type { LockedTask } from "../commit/load/lock-tasks.ts"
import type { QueuedRow } from "./queued-rows.ts"

/** A transaction in which tickets are fetched. */
export interface Take {
  readonly query: Query
  /** It stays open for what is claimed of it: tickets need only be locked by it. */
  readonly isOpen: boolean
  /** Queued runs whose rows are locked by it: what is claimed of them at once can be written by it. */
  onLocked(rows: readonly LockedTask[]): void
  /** How it ended. Until then nobody else sees that it has the tickets; once it was taken back they are where they were. */
  readonly ended: Promise<"committed" | "taken_back">
}

export interface Takes {
  /** Resolves with what `pull` answers, maybe before the transaction ends. `pull` is called again when it was taken back. */
  takeIn(pull: (take: Take) => Promise<readonly QueuedRow[]>): Promise<readonly QueuedRow[]>
  /** These will not be claimed. */
  decline(ids: readonly TaskId[]): void
}
