import type { FatalCommit } from "./die-at-commit.ts"

/** Where programs meet: a folder, and a store on a server or, without its URL, in the folder. */
export interface DeliveryPlace {
  readonly directory: string
  readonly engine?: string
}

/** What one life of the program is told, as its only argument. */
export interface DeliveryOrders {
  readonly place: DeliveryPlace
  /** Says what happens: the same in every process. */
  readonly seed: number
  /** Which life of the plan it is, from 0. Without one it only has the conversations open, beside another program. */
  readonly life?: number
  readonly atCommit?: FatalCommit
}

/** What it says. */
export type DeliveryReport =
  | { readonly ready: true }
  /** Everything has ended and was told; what is wrong with it. Then it stays, until it is killed. */
  | { readonly settled: readonly string[] }
  | { readonly failed: string }

/** A line on its input: whatever can end does. */
export const SETTLE = "settle"
