import type { LeaseTable, LeaseWatch, StoredLease } from "../../rules/tables.ts"
import type { JudgeLease } from "../judge-lease.ts"
import { type Changed, createMemory, type UndoLog } from "./memory.ts"
import { createNumbers, type Numbers } from "./numbers.ts"
import { missing } from "./wants.ts"

export interface LeaseRows {
  readonly table: LeaseTable
  readonly watch: LeaseWatch
  readonly fences: Numbers
  /** `isSilent`: by the server's clock it was not renewed for its whole time. */
  learn(key: string, lease: StoredLease | undefined, isSilent: boolean): void
  changes(): readonly Changed<StoredLease>[]
}

export function createLeaseRows(undo: UndoLog, judgeLease: JudgeLease): LeaseRows {
  const leases = createMemory<StoredLease>(undo)
  const fences = createNumbers("lease_fences", undo)
  const silent = new Set<StoredLease>()

  const table: LeaseTable = {
    find(key) {
      if (!leases.isKnown(key)) throw missing("lease", key)
      return leases.get(key)
    },
    save: (lease) => leases.set(lease.key, lease),
    renew: (lease) => leases.set(lease.key, lease),
    remove: (key) => leases.set(key, undefined),
    nextFence: fences.take,
  }

  return {
    table,
    watch: { isOver: (lease) => judgeLease(lease, silent.has(lease)) },
    fences,
    learn(key, lease, isSilent) {
      leases.learn(key, lease)
      if (lease && isSilent) silent.add(lease)
    },
    changes: leases.changes,
  }
}
