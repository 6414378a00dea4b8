import type { MeanwhileError } from "../../../base/error.ts"

export interface ConnectionOptions {
  /** `postgres://user:password@host:port/database?sslmode=verify-full&sslrootcert=…&pool_size=…` */
  readonly url: string
  /** The schema of the tables, which are created if missing. pg-boss has a schema of the same name followed by `_queue`. */
  readonly schema?: string
  /** The server ends a statement that takes longer. 0: no limit. */
  readonly statementTimeoutMs?: number
}

export interface DatabaseOptions extends ConnectionOptions {
  /**
   * The most connections at once, beside the one that listens. At least four. Default: the URL's `pool_size`, else 10.
   */
  readonly poolSize?: number
  /** How long to wait for a server that is away at first, when the URL is probably wrong. Default: 5 s. */
  readonly startPatienceMs?: number
  /** How long to wait for a server that goes away later, before callers are refused. Default: 60 s. */
  readonly patienceMs?: number
  /** Once it aborts, a server that is away is not waited for any more. Closing the store does the same. */
  readonly leaving?: AbortSignal
  /**
   * Called when a server that is away is given up, after `leaving` has aborted or the store is closed: from now on
   * everything is refused.
   */
  readonly onGone?: () => void
  /** Called when the server is found to be away, and when it is back. */
  readonly onAway?: (isAway: boolean) => void
  /** Lines for a person: that the server is waited for, is away, is back. */
  readonly tell?: (line: string) => void
}

/** A statement whose text never changes: the server plans it once per connection, under its name. */
export interface Statement {
  readonly name: string
  readonly text: string
}

/** Rows have the shape that the statement's own SQL gives them; integers and fractions come as numbers. */
export type Query = <Row = never>(statement: string | Statement, values?: readonly unknown[]) => Promise<readonly Row[]>

export interface TransactionOptions {
  /**
   * A statement that waits longer for a lock is refused, as `isHeldUp` tells. Default: as long as the statement may
   * take.
   */
  readonly lockTimeoutMs?: number
  /** `refuse`: the transaction does not wait for a server that is found to be away. Default: `wait`. */
  readonly whenAway?: "wait" | "refuse"
}

/**
 * The server, across lost connections. Every error is a MeanwhileError, except for those that `work` throws itself,
 * which are passed on unchanged.
 */
export interface Database {
  /** Runs one statement by itself. Retried while the connection is lost, and refused in the end as `store_unavailable`. */
  readonly query: Query
  /**
   * Runs `work` in one transaction on one connection, which is rolled back if `work` throws. Statements that `work` has
   * sent without waiting for the answer are part of it: the COMMIT is sent right behind them, and nothing is committed
   * if one of them fails. Retried as a whole after a deadlock, a unique violation (another process was first: the next
   * try finds its row) or a lost connection, so `work` must not do anything outside the transaction that may not happen
   * twice.
   */
  transaction<Result>(work: (query: Query) => Promise<Result>, options?: TransactionOptions): Promise<Result>
  /** Why the server takes no writes now; undefined if nobody was told that it does not. */
  away(): MeanwhileError | undefined
  /** Like `away`, for a server that cannot be read either. */
  unreachable(): MeanwhileError | undefined
  /** The command by which the owner migrates the store and lets a role use it. */
  toOwnerCommand(grantTo: string): string
  /** Waits for statements that are under way. Later ones are refused as `closed`. */
  close(): Promise<void>
}
