import type { Question } from "./person-port.ts"
import type { CheckedCall } from "./task-service.ts"
import type { Tool } from "./tool.ts"

/** A call that asks to be admitted. */
export interface PermissionRequest {
  readonly call: CheckedCall
  readonly plugin: string
  readonly tool: string
  /** The parsed input, as `run` gets it. */
  readonly input: unknown
  readonly definition: Tool
  /** True if the call is made below a background task: no person is waiting for it, so the question goes to the inbox. */
  isInBackground(): Promise<boolean>
  /**
   * Awaited before a person is asked at the prompt. Makes durable that the call has not begun, so that this is known
   * after a crash.
   */
  beforeAsking(): Promise<void>
  /** Aborted when nobody wants the call any more. */
  readonly signal: AbortSignal
}

export type PermissionDecision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly reason: string }
  /** No person is attached now, so the call waits for the answer. No answer in time means no. */
  | { readonly allowed: "ask"; readonly question: Question; readonly expiresInMs: number | null }
