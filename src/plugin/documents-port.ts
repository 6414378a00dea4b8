import type { JsonValue } from "../base/json.ts"

/**
 * What a plugin keeps of one conversation: small values by names of its own. They are where the conversation is, so that
 * whoever goes on with it has them, and they go with it. Calls outside of any conversation share theirs.
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
