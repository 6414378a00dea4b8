import type { JsonValue } from "../base/json.ts"

/**
 * Small values that a plugin keeps for one conversation, by name. They are stored with the conversation, so that
 * every process that continues it has them, and they are deleted with it. Calls outside a conversation share one set.
 */
export interface DocumentsPort {
  /** Undefined when there is none. */
  read(name: string): Promise<JsonValue | undefined>
  /**
   * Returns what is kept now: without secrets.
   *
   * Contract: nothing is lost that another call or process writes at the same time. `change` is called again with what
   * that one wrote, so it does nothing but return a value. What it throws is thrown, and nothing is written.
   */
  change(name: string, change: (before: JsonValue | undefined) => JsonValue): Promise<JsonValue>
}
