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
