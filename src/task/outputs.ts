import type { TaskId } from "./id.ts"
import type { RunReference } from "./operation.ts"

/** The kept range of a run's output. Offsets are absolute: byte 0 is the first byte ever printed. */
export interface OutputExtent {
  /** Offsets at which the run was begun anew, in ascending order. */
  readonly restarts: readonly number[]
  /** Bytes below this offset were dropped. */
  readonly firstOffset: number
  readonly totalBytes: number
}

/** The next piece of a run's output, redacted. */
export interface OutputPart {
  readonly run: Required<RunReference>
  /** Where the last piece ended, or `keepFrom` where that is higher. */
  readonly start: number
  readonly bytes: Uint8Array
  /** Bytes below this offset are dropped. */
  readonly keepFrom: number
}

/**
 * Output of runs, for readers who cannot see the files of the worker. An engine whose processes all share one folder
 * does not provide it. A task's output is deleted when the task is stripped or removed.
 */
export interface Outputs {
  /**
   * Resolves once the piece is durable; of a piece that overlaps what is there, only the rest is added. Refused as
   * `stale_claim` if the run is not claimed under that fence.
   */
  append(part: OutputPart): Promise<void>
  /**
   * Notes that the run is begun anew under this fence: from here on its output is of another execution. Returns the offset
   * at which that begins, the same one each time. Refused as `append` is.
   */
  restart(run: Required<RunReference>): Promise<number>
  /** Undefined: no output of this run was ever kept. */
  extent(taskId: TaskId, run: number): Promise<OutputExtent | undefined>
  /** `start` and `end` lie within the extent. Returns fewer bytes, or none, if some were dropped meanwhile. */
  read(taskId: TaskId, run: number, start: number, end: number): Promise<Uint8Array>
}
