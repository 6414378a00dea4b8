import type { Clock } from "../../base/clock.ts"
import type { JsonObject } from "../../base/json.ts"

export interface PostgresEngineOptions {
  /** `postgres://user:password@host:port/database?sslmode=verify-full&sslrootcert=…&pool_size=…` */
  readonly url: string
  /**
   * Where the tables are. They are created when missing. pg-boss has a schema of the same name with `_queue` behind it.
   */
  readonly schema?: string
  /**
   * The most connections at once, beside the one that listens. At least four. Default: the URL's `pool_size`, else 10.
   */
  readonly poolSize?: number
  /** For those who own the time; otherwise the server's clock is the clock. */
  readonly clock?: Clock
  /** True if the process that a lease describes lives; undefined when this host cannot say. */
  readonly isHolderAlive?: (data: JsonObject) => boolean | undefined
  /** How long a server is waited for that is not there when the store is opened. Default: 5 s. */
  readonly startPatienceMs?: number
  /** The same for one that goes away later: callers are refused after it. Default: 60 s. */
  readonly patienceMs?: number
  /** Once it aborts, a server that is away is not waited for. So it is when the store is closed. */
  readonly leaving?: AbortSignal
  /** Called when that has come to pass: from now on everything is refused. */
  readonly onGone?: () => void
  /** Called when it is found to be away, and when it is back. */
  readonly onAway?: (isAway: boolean) => void
  /**
   * Lines for a person: what takes its time, that the server is waited for, is away, is back; and, where there is no
   * log, what else they should know, once.
   */
  readonly tell?: (line: string) => void
  readonly log?: { warn(message: string, fields?: JsonObject): void }
}
