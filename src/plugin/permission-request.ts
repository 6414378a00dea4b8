import type { Question } from "./person-port.ts"
import type { ToolCall } from "./task-service.ts"
import type { Tool } from "./tool.ts"

/** A call that asks to be admitted. */
export interface PermissionRequest {
  readonly call: ToolCall
  readonly plugin: string
  readonly tool: string
  /** As the tool's schema gives it to `run`. */
  readonly input: unknown
  readonly definition: Tool
  /** True if the call is made below a background task: no person is waiting for it, so they are asked in the inbox. */
  isInBackground(): Promise<boolean>
  /**
   * Awaited before a person is asked at the prompt: it makes durable that the call has not begun, so that a crash
   * cannot blur this.
   */
  beforeAsking(): Promise<void>
  /** Aborted when nobody wants the call any more. */
  readonly signal: AbortSignal
}

export type PermissionDecision =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly reason: string }
  /** Nobody is there now: the call waits for the answer. Unanswered in time means no. */
  | { readonly allowed: "ask"; readonly question: Question; readonly expiresInMs: number | null }
