import type { JsonObject } from "../base/json.ts"

/**
 * States that the holder of this key is alive. The holder keeps the lease by renewing it. The lease is over once the
 * engine finds its holder silent for `ttlMs`, or gone. Taking a lease that is over raises its fence, so that the former
 * holder's renewal is refused.
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
   * The store says that the holder was not heard of for `ttlMs`. If the store goes by a clock that can be set, a
   * process that has just started sees this before it may call the lease over.
   */
  readonly isSilent: boolean
}
