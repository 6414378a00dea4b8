import type { SessionId } from "../../../src/task/id.ts"
import type { FatalCommit } from "./die-at-commit.ts"

/** What one life of the program that takes turns is told, as its only argument. */
export interface TurnOrders {
  readonly directory: string
  readonly session: SessionId
  /** Of the model. */
  readonly baseUrl: string
  readonly leaseSeconds: number
  /** The URL of the store. Without it, the one in the folder. */
  readonly engine?: string
  /** Sent in a new session. Without it, what is left in the store is brought to its end. */
  readonly prompt?: string
  /** Two messages more, once everything has ended. */
  readonly goesOn?: boolean
  /** Signals itself at the n-th commit after it was opened. */
  readonly atCommit?: FatalCommit
  /** Shuts down when it is told so by a line on its input. */
  readonly waits?: boolean
}

export type TurnReport =
  | { readonly ready: true }
  /** Somebody said that what was interrupted may be repeated. */
  | { readonly answered: true }
  /** The turn that was asked for here is over, and the person has the answer. */
  | { readonly ended: string }
  | { readonly failed: string }
  | { readonly finished: true }
