import type { Clock } from "../../base/clock.ts"
import type { JsonObject } from "../../base/json.ts"

export interface PostgresEngineOptions {
  /** `postgres://user:password@host:port/database?sslmode=verify-full&sslrootcert=…` */
  readonly url: string
  /** Where the tables are. They are created when missing. pg-boss has a schema of the same name with `_queue` behind it. */
  readonly schema?: string
  /** The most connections at once, beside the one that listens. At least three. */
  readonly poolSize?: number
  /** For those who own the time; otherwise the server's clock is the clock. */
  readonly clock?: Clock
  /** Whether the process that a lease describes lives; undefined when this host cannot say. */
  readonly isHolderAlive?: (data: JsonObject) => boolean | undefined
  /** Lines for the person who waits: what takes its time, and why. */
  readonly tell?: (line: string) => void
  readonly log?: { warn(message: string, fields?: JsonObject): void }
}
