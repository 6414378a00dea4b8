import type { Database } from "../connection/database.ts"

/** Looks whether anything at all was written. */
export interface ChangePoll {
  /** From now on so often. */
  every(intervalMs: number): void
  close(): void
}

/**
 * The server's own list of transactions changes with every one that writes, here or in another database of the server:
 * equal lists mean that nothing can have been missed.
 */
export function createChangePoll(database: Database, onChange: () => void): ChangePoll {
  let timer: NodeJS.Timeout | undefined
  let intervalMs: number | undefined
  let isClosed = false
  let known: string | undefined

  function schedule(): void {
    clearTimeout(timer)
    if (!isClosed) timer = setTimeout(() => void look(), intervalMs).unref()
  }

  /** A look that fails finds nothing: whoever reads or writes the store is told why. */
  async function look(): Promise<void> {
    const found = await readTransactions().catch(() => undefined)
    const isChanged = found !== undefined && found !== known
    known = found ?? known
    schedule()
    if (isChanged && !isClosed) onChange()
  }

  async function readTransactions(): Promise<string | undefined> {
    const [row] = await database.query<{ snapshot: string }>("SELECT pg_current_snapshot()::text AS snapshot")
    return row?.snapshot
  }

  return {
    every(ms) {
      if (ms === intervalMs) return
      intervalMs = ms
      schedule()
    },
    close() {
      isClosed = true
      clearTimeout(timer)
    },
  }
}
