import type { JsonObject } from "../base/json.ts"

/**
 * A statement that the holder of this key is alive. Held by renewing it; over when the engine judges its holder silent
 * for `ttlMs` or gone. Taking a lease that is over raises its fence, so that the former holder's renewal is refused.
 */
export interface Lease {
  readonly key: string
  readonly holder: string
  readonly fence: number
  readonly ttlMs: number
  /** Facts about the holder for others, for example its process. */
  readonly data: JsonObject
  readonly isOver: boolean
  /**
   * Its holder has not been heard of for `ttlMs`, as the store says. Where that is by a clock that can be set, a
   * process that has just started knows this before it may call the lease over.
   */
  readonly isSilent: boolean
}
