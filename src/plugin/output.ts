/** The part of a task's output that is asked for. Offsets are absolute: byte 0 is the first byte ever printed. */
export interface OutputRequest {
  /**
   * Where to begin. Default 0. With an offset the text ends where the run was begun anew; without, it goes on there.
   */
  readonly offset?: number
  /** Instead of an offset: how many of the last bytes, and none from before the run was last begun anew. */
  readonly tailBytes?: number
  readonly limitBytes?: number
  /** Only lines that match the expression or contain the text. */
  readonly filter?: RegExp | string
  /**
   * Default `utf8`. With `latin1` every character stands for one byte, so that none is lost. Refused together with a
   * filter.
   */
  readonly encoding?: "utf8" | "latin1"
  readonly run?: number
}

export interface OutputChunk {
  /**
   * Redacted. As `utf8`, invalid bytes show as U+FFFD, and a character cut at the end is left for the next read. As
   * `latin1`, exactly the bytes.
   */
  readonly text: string
  readonly offset: number
  /** Where to go on reading. */
  readonly nextOffset: number
  /** Bytes printed so far. If all were removed, the number is not known, and this is the offset asked for. */
  readonly totalBytes: number
  /**
   * Bytes below this offset were dropped by the output limit; set if the request reached below it. `all`: the task's output
   * was removed, whatever was asked for: the retention time is over, or the file was deleted while the task ran. The text is
   * then empty and there is nothing more to read.
   */
  readonly droppedBefore: number | "all" | null
  /**
   * The offset at which the execution that printed the end of this text began. The run was begun anew there, because the
   * execution before it was given up; the output of that one ends at this offset. Null: this is the first execution. A
   * reader that goes on from offset to offset meets each of these offsets as the beginning of a text.
   */
  readonly restartedAt: number | null
  /**
   * True if the run has ended and this is the end of its output, or of what is left of it. Never for output whose file was
   * deleted while the task ran.
   */
  readonly isComplete: boolean
}

export interface PatternRequest {
  /** The pattern a line must match; a string must occur in the line. */
  readonly pattern: RegExp | string
  /**
   * Where to begin to look. Default 0: output printed before the call counts. Output from before the run was last begun
   * anew never counts.
   */
  readonly offset?: number
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** How a wait for a pattern ended. Only the matching line is returned. */
export type PatternAnswer =
  | { readonly outcome: "matched"; readonly line: string; readonly offset: number; readonly nextOffset: number }
  | { readonly outcome: "ended" | "timed_out" | "aborted"; readonly nextOffset: number }
