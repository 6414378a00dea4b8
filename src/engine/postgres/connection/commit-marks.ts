import type { Connection } from "./connection.ts"
import type { Statement } from "./database.ts"

/**
 * Proof that a transaction was committed, for when the answer to its COMMIT was lost. Each transaction under way has a
 * slot, a row of its own, and writes its number into it as the last thing before the COMMIT, in the same round trip.
 * (The server's own transaction ids prove nothing after a crash: one that did not reach the log is given out again.)
 */
export interface CommitMarks {
  /** Undefined while the store has no tables: then only migrations run, and they may run twice. */
  take(connection: Connection): Promise<CommitMark | undefined>
}

export interface CommitMark {
  /** Written as the last thing before the COMMIT. */
  write(connection: Connection): Promise<unknown>
  /**
   * Waits for a transaction that is still being decided. One whose COMMIT is still on its way there is refused by then.
   */
  isCommitted(connection: Connection): Promise<boolean>
  /** Once the transaction is decided. */
  release(): void
}

/**
 * Only for a transaction that wrote anything. A slot that has gone on to a higher number refuses this one: by dividing
 * by zero.
 */
const MARK: Statement = {
  name: "commit mark",
  text: `INSERT INTO commit_marks (slot, number) SELECT $1, $2::bigint WHERE pg_current_xact_id_if_assigned() IS NOT NULL
    ON CONFLICT (slot) DO UPDATE SET at = clock_timestamp(),
      number = excluded.number / (commit_marks.number < excluded.number)::integer`,
}

export function createCommitMarks(): CommitMarks {
  const owner = crypto.randomUUID()
  const freeSlots: string[] = []
  let slotCount = 0
  let lastNumber = 0
  let hasTable = false

  function createMark(slot: string, number: number): CommitMark {
    return {
      write: (connection) => connection.run(MARK, [slot, number]),
      async isCommitted(connection) {
        const higher = ++lastNumber
        await connection.command(connection.begin)
        // Either of the two waits while the other transaction holds the row, whether it was there before or not.
        const insert = "INSERT INTO commit_marks (slot, number) VALUES ($1, $2) ON CONFLICT DO NOTHING"
        await connection.run(insert, [slot, higher])
        const select = "SELECT number FROM commit_marks WHERE slot = $1 FOR UPDATE"
        const [found] = await connection.run<{ number: number }>(select, [slot])
        const isThere = found?.number === number
        if (!isThere) await connection.run("UPDATE commit_marks SET number = $2 WHERE slot = $1", [slot, higher])
        await connection.command("COMMIT")
        return isThere
      },
      release: () => void freeSlots.push(slot),
    }
  }

  return {
    async take(connection) {
      hasTable ||= await findTable(connection)
      if (!hasTable) return undefined
      return createMark(freeSlots.pop() ?? `${owner}/${++slotCount}`, ++lastNumber)
    },
  }
}

async function findTable(connection: Connection): Promise<boolean> {
  const [found] = await connection.runAlone<{ is_there: boolean }>(
    "SELECT to_regclass('commit_marks') IS NOT NULL AS is_there",
  )
  if (!found?.is_there) return false
  // Removes the marks of processes that are long gone, also by a clock that was set.
  await connection.runAlone("DELETE FROM commit_marks WHERE at < clock_timestamp() - interval '30 days'")
  return true
}
