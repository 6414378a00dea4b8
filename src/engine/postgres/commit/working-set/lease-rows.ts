import type { LeaseTable, LeaseWatch, StoredLease } from "../../../rules/tables.ts"
import type { JudgeLease, ServerTimes } from "../../read/judge-lease.ts"
import { type Changed, createMemory, createNumbers, type Numbers, type UndoLog } from "./memory.ts"
import { missing } from "./wants.ts"

export interface LeaseRows {
  readonly table: LeaseTable
  readonly watch: LeaseWatch
  readonly fences: Numbers
  learn(key: string, lease: StoredLease | undefined, word?: ServerTimes): void
  changes(): readonly Changed<StoredLease>[]
}

export function createLeaseRows(undo: UndoLog, judgeLease: JudgeLease): LeaseRows {
  const leases = createMemory<StoredLease>(undo)
  const fences = createNumbers("lease_fences", undo)
  const words = new Map<StoredLease, ServerTimes>()

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

  const watch: LeaseWatch = {
    isOver(lease) {
      const word = words.get(lease)
      // A lease that was taken in this transaction is held.
      return word !== undefined && judgeLease(lease, word)
    },
  }

  return {
    table,
    watch,
    fences,
    learn(key, lease, word) {
      leases.learn(key, lease)
      if (lease && word) words.set(lease, word)
    },
    changes: leases.changes,
  }
}
