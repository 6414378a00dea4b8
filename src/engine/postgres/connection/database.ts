export interface ConnectionOptions {
  /** `postgres://user:password@host:port/database?sslmode=verify-full&sslrootcert=…&pool_size=…` */
  readonly url: string
  /**
   * Where the tables are. They are created when missing. pg-boss has a schema of the same name with `_queue` behind it.
   */
  readonly schema?: string
  /** The server ends a statement that takes longer. 0: it may take as long as it takes. */
  readonly statementTimeoutMs?: number
}

export interface DatabaseOptions extends ConnectionOptions {
  /**
   * The most connections at once, beside the one that listens. At least four. Default: the URL's `pool_size`, else 10.
   */
  readonly poolSize?: number
  /** How long a server is waited for that is not there at first, when it is likely that the URL is wrong. Default: 5 s. */
  readonly startPatienceMs?: number
  /** The same for one that goes away later: callers are refused after it. Default: 60 s. */
  readonly patienceMs?: number
  /** Once it aborts, a server that is away is not waited for. So it is when the store is closed. */
  readonly leaving?: AbortSignal
  /** Called when that has come to pass: from now on everything is refused. */
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

/** Rows have the shape that the statement's own SQL gives them; whole and broken numbers come as numbers. */
export type Query = <Row = never>(statement: string | Statement, values?: readonly unknown[]) => Promise<readonly Row[]>

export interface TransactionOptions {
  /**
   * A statement that waits longer for a lock is refused, as `isHeldUp` tells. Default: as long as the statement may
   * take.
   */
  readonly lockTimeoutMs?: number
}

/**
 * The server, whatever happens to the way there. Every error is a MeanwhileError, but for those that `work` throws
 * itself: they come out as they are.
 */
export interface Database {
  /** One statement by itself. Tried again while the connection is lost; refused in the end as `store_unavailable`. */
  readonly query: Query
  /**
   * In one transaction on one connection, taken back when `work` throws. What `work` has sent without waiting for the
   * answer is part of it: the COMMIT is sent right behind, and nothing is committed when any of it fails. Tried again
   * as a
   * whole after a deadlock, a unique violation (somebody else was first: the next try finds it) or a lost connection,
   * so
   * `work` must not do anything outside the transaction that may not happen twice.
   */
  transaction<Result>(work: (query: Query) => Promise<Result>, options?: TransactionOptions): Promise<Result>
  /** The command by which the owner migrates the store and lets a role use it. */
  toOwnerCommand(grantTo: string): string
  /** Waits for what is under way. What is asked afterwards is refused as `closed`. */
  close(): Promise<void>
}
