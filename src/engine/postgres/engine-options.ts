import type { Clock } from "../../base/clock.ts"
import type { JsonObject } from "../../base/json.ts"
import type { DatabaseOptions } from "./connection/database.ts"

export interface PostgresEngineOptions extends Omit<DatabaseOptions, "statementTimeoutMs"> {
  /** For callers who control the time, such as tests. Default: the server's clock. */
  readonly clock?: Clock
  /** True if the process that a lease describes is alive; undefined if this host cannot tell. */
  readonly isHolderAlive?: (data: JsonObject) => boolean | undefined
  /**
   * Lines for a person: that something takes long, and that the server is waited for, is away, is back. Without a
   * `log`, warnings come here, too, each of them once.
   */
  readonly tell?: (line: string) => void
  readonly log?: { warn(message: string, fields?: JsonObject): void }
}
