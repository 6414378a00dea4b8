/** A message that waits for a turn that this process has not begun. */
export interface HeldMessage {
  /** Nobody says it any more. */
  withdraw(reason: Error): void
  /** Resolves when its own turn has begun, or never will. */
  readonly over: Promise<void>
}
