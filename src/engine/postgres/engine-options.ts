import type { Clock } from "../../base/clock.ts"
import type { JsonObject } from "../../base/json.ts"
import type { DatabaseOptions } from "./connection/database.ts"

export interface PostgresEngineOptions extends Omit<DatabaseOptions, "statementTimeoutMs"> {
  /** For those who own the time; otherwise the server's clock is the clock. */
  readonly clock?: Clock
  /** True if the process that a lease describes lives; undefined when this host cannot say. */
  readonly isHolderAlive?: (data: JsonObject) => boolean | undefined
  /**
   * Lines for a person: what takes its time, that the server is waited for, is away, is back; and, where there is no
   * log, what else they should know, once.
   */
  readonly tell?: (line: string) => void
  readonly log?: { warn(message: string, fields?: JsonObject): void }
}
