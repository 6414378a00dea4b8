import type { ToolCall } from "../../../src/plugin/task-service.ts"

/** What a test tells the program it is going to kill. */
export type Command =
  | { readonly do: "start"; readonly call: ToolCall }
  | { readonly do: "promote"; readonly call: ToolCall; readonly afterMs: number }
  | { readonly do: "cancel"; readonly id: string }
  /** Stand still between two turns of the event loop, and so never between looking at the lease and acting. */
  | { readonly do: "freeze" }
  /** Wait until nothing lives in the store; then `leave` shuts down, and `finish` first shows that every slot is free. */
  | { readonly do: "settle" | "leave" }
  /** `answer`: whether what a crash interrupted is run again, where that is asked. */
  | { readonly do: "finish"; readonly answer: boolean }

/** What the program says. */
export type Report =
  | { readonly ready: true }
  | { readonly event: number; readonly id: string }
  | { readonly answered: string }
  /** Before a stop is asked for, and once it was accepted. */
  | { readonly stopping: string }
  | { readonly stopped: string }
  | { readonly refused: string }
  /** Every command has its answer. */
  | { readonly idle: true }
  | { readonly settled: true }
  | { readonly finished: true }
