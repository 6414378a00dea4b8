import type { JsonValue } from "../base/json.ts"

/**
 * Small values that a plugin keeps for one conversation, by name. They are stored with the conversation, so that
 * every process that continues it has them, and they are deleted with it. Calls outside a conversation share one set.
 */
export interface DocumentsPort {
  /** Undefined if there is no document of this name. */
  read(name: string): Promise<JsonValue | undefined>
  /**
   * Returns the value that is stored now, redacted.
   *
   * Contract: no value is lost that another call or process writes at the same time. `change` is then called again with
   * that value, so it must do nothing but return a new one. If it throws, the error is thrown here and nothing is
   * written.
   */
  change(name: string, change: (before: JsonValue | undefined) => JsonValue): Promise<JsonValue>
}
