import type { Operation, OperationName } from "../../task/operation.ts"
import type { AnswerOf } from "../../task/operation-answer.ts"
import type { Change } from "./change.ts"

export type Answer = AnswerOf<OperationName>

/** Somebody who wants something written, and waits for what becomes of it. */
export interface Writer {
  readonly operations: readonly Operation[]
  readonly resolve: (answers: readonly Answer[]) => void
  readonly reject: (error: unknown) => void
}

/** The outcome of one writer: its answers, or the refusal that rolled its writes back. */
export type Outcome =
  | { readonly isRefused: false; readonly answers: readonly Answer[]; readonly change: Change }
  | { readonly isRefused: true; readonly error: unknown }
