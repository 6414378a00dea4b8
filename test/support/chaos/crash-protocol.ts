import type { ToolCall } from "../../../src/plugin/task-service.ts"

/** What a test tells the program it is going to kill. */
export type Command =
  | { readonly do: "start"; readonly call: ToolCall }
  | { readonly do: "promote"; readonly call: ToolCall; readonly afterMs: number }
  | { readonly do: "cancel"; readonly id: string }
  /** Stand still (SIGSTOP) between two turns of the event loop, so never between the look at the lease and the effect. */
  | { readonly do: "freeze" }
  /** Wait until the store has no live task. Then `leave` shuts down; `finish` proves that every slot is free, and shuts down. */
  | { readonly do: "settle" | "leave" }
  /** `answer`: the answer to every question whether an interrupted step is run again. */
  | { readonly do: "finish"; readonly answer: boolean }

/** What the program says. */
export type Report =
  | { readonly ready: true }
  | { readonly event: number; readonly id: string }
  | { readonly answered: string }
  /** `stopping`: a stop is about to be asked for; `stopped`: it was accepted. */
  | { readonly stopping: string }
  | { readonly stopped: string }
  | { readonly refused: string }
  /** Every command has its answer. */
  | { readonly idle: true }
  | { readonly settled: true }
  | { readonly finished: true }
