import type { FatalCommit } from "./die-at-commit.ts"

/** What the programs share: a folder, and a store on a server, or in the folder if there is no URL. */
export interface DeliveryPlace {
  readonly directory: string
  readonly engine?: string
}

/** What one life of the program is told, as its only argument. */
export interface DeliveryOrders {
  readonly place: DeliveryPlace
  /** Decides the plan, which is the same in every process. */
  readonly seed: number
  /** The life of the plan, from 0. Without a life the program only has the conversations open, beside another program. */
  readonly life?: number
  readonly atCommit?: FatalCommit
}

/** What it says. */
export type DeliveryReport =
  | { readonly ready: true }
  /** Everything has ended; the list says what is wrong. Afterwards the program stays until it is killed. */
  | { readonly settled: readonly string[] }
  | { readonly failed: string }

/** A line on the program's input: bring everything to its end. */
export const SETTLE = "settle"
