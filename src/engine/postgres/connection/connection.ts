import pg from "pg"
import { MeanwhileError } from "../../../base/error.ts"
import type { Statement, Query } from "./database.ts"
import { toTrouble } from "./store-error.ts"
import { createHash } from "node:crypto"

/** A connection, used by one caller at a time. */
export type Connection = ReturnType<typeof toConnection>

interface ConnectionParts {
  readonly client: pg.PoolClient
  /**
   * True if the session is not ours alone: each transaction begins with the settings, and nothing outlives a
   * transaction.
   */
  readonly isBorrowed: boolean
  /** The settings of the session, as statements. */
  readonly perTransaction: string
  /** Rejects once the answers are not waited for any more. Never resolves. */
  readonly givenUp: Promise<never>
}

export function toConnection({ client, isBorrowed, perTransaction, givenUp }: ConnectionParts) {
  const begin = isBorrowed ? `BEGIN; ${perTransaction}` : "BEGIN"
  let isBroken = false
  let unsent: Error | undefined

  /**
   * The client sends a statement at once, and reports at once what it cannot send. The connection may have got a part
   * of it.
   */
  function send(query: pg.QueryConfig): Promise<unknown> {
    return new Promise((resolve, reject) => {
      let isSending = true
      client.query(query, (error: Error | null, result: unknown) => {
        if (!error) return resolve(result)
        if (!isSending || toTrouble(error)) return reject(error)
        isBroken = true
        unsent ??= toUnsendable(error)
        reject(unsent)
      })
      isSending = false
    })
  }

  async function ask(statement: string | Statement, values?: readonly unknown[]): Promise<readonly pg.QueryResult[]> {
    const { name, text } = typeof statement === "string" ? { name: undefined, text: statement } : statement
    try {
      const query = { text, ...(values ? { values: [...values] } : {}) }
      // The next statement may meet another session, which does not know the name.
      const answer = send(name === undefined || isBorrowed ? query : { ...query, name })
      const result: unknown = await Promise.race([answer, givenUp])
      return (Array.isArray(result) ? result : [result]) as readonly pg.QueryResult[]
    } catch (error) {
      if (spoils(error)) isBroken = true
      throw error
    }
  }

  async function run<Row = never>(statement: string | Statement, values?: readonly unknown[]): Promise<readonly Row[]> {
    const results = await ask(statement, values)
    const [first, ...others] = results.map((result) => result.rows as readonly Row[])
    return others.length === 0 ? (first ?? []) : [first ?? [], ...others].flat()
  }

  /** Runs statements without values or rows; returns the name of the last command that was executed. */
  const command = async (text: string): Promise<string> => (await ask(text)).at(-1)?.command ?? ""

  return {
    /** The statements that each transaction begins with. */
    begin,
    run,
    command,
    /** The reason why a statement could not be sent. The server does not know of it, and would commit the others. */
    unsent: () => unsent,
    isBroken: () => isBroken,
    /** Runs one statement by itself, and not as part of a transaction. */
    async runAlone<Row = never>(statement: string | Statement, values?: readonly unknown[]): Promise<readonly Row[]> {
      if (!isBorrowed) return run<Row>(statement, values)
      const answers = [command(begin), run<Row>(statement, values), command("COMMIT")] as const
      // Once all are answered the connection can be used again, whatever the answers were.
      await Promise.allSettled(answers)
      const [, rows] = await Promise.all(answers)
      return rows
    },
  }
}

/** Errors of a stale plan, which ends only with its session. */
const STALE_PLANS: ReadonlySet<string> = new Set(["0A000", "26000", "42P05"])

function spoils(error: unknown): boolean {
  if (toTrouble(error)?.kind === "lost") return true
  return error instanceof pg.DatabaseError && STALE_PLANS.has(error.code ?? "")
}

function toUnsendable(cause: Error): MeanwhileError {
  const text = `A value cannot be sent to PostgreSQL (${cause.message}). Nothing of this was stored.`
  return new MeanwhileError("invalid_input", text, {}, { cause })
}

/** Gives a text a name, so that each connection parses and plans it once, or returns the text as it is. */
type Naming = (text: string) => Statement | string

/** The most texts seen once that are remembered. */
const MOST_STRANGERS = 1_000

/**
 * Names a text when it comes a second time. What the server keeps for a name is large, and each connection has its own,
 * so the number of names is bounded.
 */
export function createNaming(most: number): Naming {
  const statements = new Map<string, Statement>()
  const strangers = new Set<string>()
  return (text) => {
    const known = statements.get(text)
    if (known || statements.size >= most) return known ?? text
    if (!strangers.delete(text)) {
      if (strangers.size >= MOST_STRANGERS) strangers.clear()
      strangers.add(text)
      return text
    }
    const statement = { name: createHash("sha1").update(text).digest("base64url"), text }
    statements.set(text, statement)
    return statement
  }
}

/** A query that names statements which come again with other values. */
export function toNamedQuery(query: Query, statementOf: Naming): Query {
  return (statement, values) =>
    query(typeof statement === "string" && values ? statementOf(statement) : statement, values)
}
