import type { SessionId } from "../../../src/task/id.ts"
import type { FatalCommit } from "./die-at-commit.ts"

/** What one life of the program that takes turns is told, as its only argument. */
export interface TurnOrders {
  readonly directory: string
  readonly session: SessionId
  /** The URL of the model's API. */
  readonly baseUrl: string
  readonly leaseSeconds: number
  /** The URL of the store. Without it, the one in the folder. */
  readonly engine?: string
  /** The message of a new session. Without it the program brings what is left in the store to its end. */
  readonly prompt?: string
  /** Sends two more messages once everything has ended. */
  readonly goesOn?: boolean
  /** Sends itself a signal at this commit. */
  readonly atCommit?: FatalCommit
  /** Shuts down when a line comes on its input. */
  readonly waits?: boolean
}

export type TurnReport =
  | { readonly ready: true }
  /** The program allowed the repetition of an interrupted call. */
  | { readonly answered: true }
  /** The turn that was asked for here is over, and the person has the answer. */
  | { readonly ended: string }
  | { readonly failed: string }
  | { readonly finished: true }
