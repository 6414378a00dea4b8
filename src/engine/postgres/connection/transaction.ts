import { MeanwhileError } from "../../../base/error.ts"
import { systemCodeOf } from "../../../base/system-error.ts"
import { IN_DOUBT } from "../../../task/store-refusal.ts"
import type { ServerWrite } from "./availability.ts"
import type { Connection } from "./connection.ts"
import type { Connections } from "./connections.ts"
import type { Database, Query, Statement, TransactionOptions } from "./database.ts"
import type { Patience } from "./patience.ts"
import { type StoreName, toStoreError, toTrouble } from "./store-error.ts"

interface TransactionParts {
  readonly connections: Connections
  readonly name: StoreName
  createPatience(whenAway?: TransactionOptions["whenAway"]): Patience
  beginWrite(): ServerWrite
}

type Outcome<Result> =
  | { readonly state: "committed"; readonly result: Result; readonly hasWritten: boolean }
  | { readonly state: "in_doubt"; readonly result: Result; readonly mark: CommitMark; readonly cause: unknown }
  /** `thrown` is the error for the caller; `cause` is the error of the server, if there was one. */
  | { readonly state: "undone"; readonly thrown: unknown; readonly cause: unknown }

export function createTransactions(parts: TransactionParts): Database["transaction"] {
  const { connections, name } = parts
  const marks = createCommitMarks()
  return async (work, options) => {
    const patience = parts.createPatience(options?.whenAway)
    using write = parts.beginWrite()
    for (;;) {
      const outcome = await attempt({ connections, marks, name }, work, options)
      if (outcome.state === "committed") {
        if (outcome.hasWritten) write.accepted()
        return outcome.result
      }
      if (outcome.state === "in_doubt") {
        const { mark, result, cause } = outcome
        if (await decide(mark, patience)) {
          write.accepted()
          return result
        }
        if (!(await patience.waitToRetry(cause))) throw toStoreError(cause, name)
        continue
      }
      const isUnwritable = toTrouble(outcome.cause)?.kind === "unwritable"
      if (isUnwritable) write.refused(outcome.cause)
      if (await patience.waitToRetry(outcome.cause)) continue
      if (isUnwritable) write.gaveUp()
      throw outcome.thrown
    }
  }

  async function decide(mark: CommitMark, patience: Patience): Promise<boolean> {
    for (;;) {
      try {
        const isCommitted = await connections.use((connection) => mark.isCommitted(connection))
        mark.release()
        return isCommitted
      } catch (error) {
        if (patience.isOver()) throw inDoubt(error, name)
      }
      await patience.pause()
    }
  }
}

type AttemptParts = Pick<TransactionParts, "connections" | "name"> & { readonly marks: CommitMarks }

async function attempt<Result>(
  { connections, marks, name }: AttemptParts,
  work: (query: Query) => Promise<Result>,
  { lockTimeoutMs }: TransactionOptions = {},
): Promise<Outcome<Result>> {
  let cause: unknown
  let mark: CommitMark | undefined
  let ofWork: { readonly error: unknown } | undefined
  const unanswered = new Set<Promise<unknown>>()

  async function ask<Row>(asking: Promise<readonly Row[]>, begun: Promise<unknown>): Promise<readonly Row[]> {
    try {
      const [rows] = await Promise.all([asking, begun])
      return rows
    } catch (error) {
      cause ??= error
      throw toStoreError(isAftermath(error) ? cause : error, name)
    }
  }

  function createQuery(connection: Connection, begun: Promise<unknown>): Query {
    return <Row>(statement: string | Statement, values?: readonly unknown[]) => {
      const answer = ask(connection.run<Row>(statement, values), begun)
      const forget = (): boolean => unanswered.delete(answer)
      unanswered.add(answer)
      answer.then(forget, forget)
      return answer
    }
  }

  try {
    const outcome = await connections.use(async (connection): Promise<Outcome<Result>> => {
      mark = await marks.take(connection)
      // Not awaited here: its answer comes with that of the first statement, which is sent right behind it.
      const limit = lockTimeoutMs === undefined ? "" : `; SET LOCAL lock_timeout TO ${lockTimeoutMs}`
      const begun = connection.command(connection.begin + limit)
      begun.catch(() => {})
      const result = await work(createQuery(connection, begun)).catch(async (error: unknown) => {
        ofWork = { error }
        await connection.command("ROLLBACK").catch(() => {})
        throw error
      })
      await begun
      await requireSent(connection)
      const committing = commit(connection, mark, result, name)
      await Promise.allSettled([...unanswered, committing])
      return committing
    })
    if (outcome.state === "committed") mark?.release()
    return outcome
  } catch (error) {
    mark?.release()
    if (ofWork) return { state: "undone", thrown: ofWork.error, cause }
    // The first statement that failed tells better than the COMMIT why nothing was committed, even if it was answered
    // later.
    const first = cause ?? error
    return { state: "undone", thrown: toStoreError(first, name), cause: first }
  }
}

/** Rolls back if a statement of the transaction was never sent: the server would commit the others. */
async function requireSent(connection: Connection): Promise<void> {
  const unsent = connection.unsent()
  if (unsent === undefined) return
  await connection.command("ROLLBACK").catch(() => {})
  throw unsent
}

/** True for a statement that was refused only because an earlier one had failed: it does not tell the reason. */
function isAftermath(error: unknown): boolean {
  return systemCodeOf(error) === IN_FAILED_TRANSACTION
}

const IN_FAILED_TRANSACTION = "25P02"

async function commit<Result>(
  connection: Connection,
  mark: CommitMark | undefined,
  result: Result,
  { server }: StoreName,
): Promise<Outcome<Result>> {
  try {
    const [hasWritten = false, command] = await Promise.all([mark?.write(connection), connection.command("COMMIT")])
    if (command === "COMMIT") return { state: "committed", result, hasWritten }
  } catch (error) {
    if (mark && toTrouble(error)?.kind === "lost") return { state: "in_doubt", result, mark, cause: error }
    await connection.command("ROLLBACK").catch(() => {})
    throw error
  }
  const text = `The store at ${server} took a transaction back in which a statement had failed. Nothing of it was stored.`
  throw new MeanwhileError("store_unavailable", text, { server })
}

function inDoubt(error: unknown, { server }: StoreName): MeanwhileError {
  const text = `The connection to the store at ${server} was lost while it committed, and it is not known whether it did. Read before you write again.`
  return new MeanwhileError("store_unavailable", text, { server, ...IN_DOUBT }, { cause: error })
}

/**
 * Proof that a transaction was committed, for when the answer to its COMMIT was lost. Each transaction under way has a
 * slot, a row of its own, and writes its number into it as the last thing before the COMMIT, in the same round trip.
 * (The server's own transaction ids prove nothing after a crash: one that did not reach the log is given out again.)
 */
interface CommitMarks {
  /** Undefined while the store has no tables: then only migrations run, and they may run twice. */
  take(connection: Connection): Promise<CommitMark | undefined>
}

interface CommitMark {
  /** Sends the mark, as the last statement before the COMMIT. False if the transaction has written nothing. */
  write(connection: Connection): Promise<boolean>
  /**
   * Waits while the transaction is still being decided. Afterwards a COMMIT of it that is still on its way is
   * refused.
   */
  isCommitted(connection: Connection): Promise<boolean>
  /** Called once the transaction is decided. */
  release(): void
}

/**
 * Writes a mark, if the transaction has written anything. A slot that has a higher number already refuses this one, by
 * dividing by zero.
 */
const MARK: Statement = {
  name: "commit mark",
  text: `INSERT INTO commit_marks (slot, number) SELECT $1, $2::bigint WHERE pg_current_xact_id_if_assigned() IS NOT NULL
    ON CONFLICT (slot) DO UPDATE SET at = clock_timestamp(),
      number = excluded.number / (commit_marks.number < excluded.number)::integer
    RETURNING true`,
}

function createCommitMarks(): CommitMarks {
  const owner = crypto.randomUUID()
  const freeSlots: string[] = []
  let slotCount = 0
  let lastNumber = 0
  let hasTable = false

  function createMark(slot: string, number: number): CommitMark {
    return {
      write: async (connection) => (await connection.run(MARK, [slot, number])).length > 0,
      async isCommitted(connection) {
        const higher = ++lastNumber
        await connection.command(connection.begin)
        // One of the two statements waits while the other transaction holds the row, whether the row existed before or
        // not. It then holds the row until the answer is given: a COMMIT that arrives in between finds the higher number.
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
  // Removes the marks of processes that are long gone, even if a clock was set meanwhile.
  await connection.runAlone("DELETE FROM commit_marks WHERE at < clock_timestamp() - interval '30 days'")
  return true
}
