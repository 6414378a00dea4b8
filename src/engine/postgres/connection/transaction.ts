import { MeanwhileError } from "../../../base/error.ts"
import type { CommitMark, CommitMarks } from "./commit-marks.ts"
import type { Connection } from "./connection.ts"
import type { Connections } from "./connections.ts"
import type { Database, Query, Statement, TransactionOptions } from "./database.ts"
import type { Patience } from "./patience.ts"
import { type StoreName, toStoreError, toTrouble } from "./store-error.ts"

export interface TransactionParts {
  readonly connections: Connections
  readonly marks: CommitMarks
  readonly name: StoreName
  createPatience(): Patience
}

type Outcome<Result> =
  | { readonly state: "committed"; readonly result: Result }
  | { readonly state: "in_doubt"; readonly result: Result; readonly mark: CommitMark; readonly cause: unknown }
  /** `thrown` is for the caller, `cause` what the server said, if that was it. */
  | { readonly state: "undone"; readonly thrown: unknown; readonly cause: unknown }

export function createTransactions(parts: TransactionParts): Database["transaction"] {
  const { connections, name } = parts
  return async (work, options) => {
    const patience = parts.createPatience()
    for (;;) {
      const outcome = await attempt(parts, work, options)
      if (outcome.state === "committed") return outcome.result
      if (outcome.state === "in_doubt") {
        const { mark, result, cause } = outcome
        if (await decide(mark, patience)) return result
        if (!(await patience.bear(cause))) throw toStoreError(cause, name)
        continue
      }
      if (!(await patience.bear(outcome.cause))) throw outcome.thrown
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

async function attempt<Result>(
  { connections, marks, name }: TransactionParts,
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
      // Its answer comes with that of the first statement, which is sent behind it.
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
      const answers = await Promise.allSettled([...unanswered, committing])
      // The statements before the COMMIT say better than the COMMIT why nothing was committed.
      const failed = answers.find((answer) => answer.status === "rejected")
      return committing.catch((error: unknown) => Promise.reject(failed?.reason ?? error))
    })
    if (outcome.state === "committed") mark?.release()
    return outcome
  } catch (error) {
    mark?.release()
    if (ofWork) return { state: "undone", thrown: ofWork.error, cause }
    return { state: "undone", thrown: toStoreError(error, name), cause: cause ?? error }
  }
}

/** The server would commit what it has got of a transaction of which a statement was never sent. */
async function requireSent(connection: Connection): Promise<void> {
  const unsent = connection.unsent()
  if (unsent === undefined) return
  await connection.command("ROLLBACK").catch(() => {})
  throw unsent
}

/** Statements behind one that failed are refused for that alone, and say nothing of the reason. */
function isAftermath(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === IN_FAILED_TRANSACTION
}

const IN_FAILED_TRANSACTION = "25P02"

async function commit<Result>(
  connection: Connection,
  mark: CommitMark | undefined,
  result: Result,
  { server }: StoreName,
): Promise<Outcome<Result>> {
  try {
    const [, command] = await Promise.all([mark?.write(connection), connection.command("COMMIT")])
    if (command === "COMMIT") return { state: "committed", result }
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
  return new MeanwhileError("store_unavailable", text, { server }, { cause: error })
}
