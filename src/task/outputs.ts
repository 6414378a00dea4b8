import type { TaskId } from "./id.ts"
import type { RunReference } from "./operation.ts"

/** The kept range of a run's output. Offsets are absolute: byte 0 is the first byte ever printed. */
export interface OutputExtent {
  /** Bytes below were dropped. */
  readonly firstOffset: number
  readonly totalBytes: number
}

/** The next piece of what a run prints, without secrets. */
export interface OutputPart {
  readonly run: Required<RunReference>
  /** Where the last piece ended, or `keepFrom` where that is higher. */
  readonly start: number
  readonly bytes: Uint8Array
  /** Bytes below this offset are dropped. */
  readonly keepFrom: number
}

/**
 * Output of runs, for readers who cannot see the files of the worker. An engine whose processes all share one
 * folder has none. What is kept of a task goes when it is stripped or removed.
 */
export interface Outputs {
  /**
   * Resolves when it is durable; the same piece again changes nothing. Refused as `stale_claim` when the run is not
   * claimed under that fence.
   */
  append(part: OutputPart): Promise<void>
  /** Undefined: nothing was ever kept. */
  extent(taskId: TaskId, run: number): Promise<OutputExtent | undefined>
  /** Within the extent. Fewer bytes, or none, when some of them were dropped meanwhile. */
  read(taskId: TaskId, run: number, start: number, end: number): Promise<Uint8Array>
}
