/** Which part of a task's output is asked for. Offsets are absolute: byte 0 is the first byte ever printed. */
export interface OutputRequest {
  /** From here on. Default 0. */
  readonly offset?: number
  /** Instead of an offset: the last so many bytes. */
  readonly tailBytes?: number
  readonly limitBytes?: number
  /** Only lines that match or, given a text, hold it. */
  readonly filter?: RegExp | string
  /** Default `utf8`. As `latin1` every character stands for one byte, so that none is lost. Not with a filter. */
  readonly encoding?: "utf8" | "latin1"
  readonly run?: number
}

export interface OutputChunk {
  /**
   * Redacted, as text: bytes that are no UTF-8 show as U+FFFD, a character cut at the end is left for the next read. As
   * `latin1`, exactly the bytes.
   */
  readonly text: string
  readonly offset: number
  /** Where to read on. */
  readonly nextOffset: number
  /** Bytes printed so far. Where all are gone nobody knows how many they were, and this is the offset asked for. */
  readonly totalBytes: number
  /**
   * Bytes below this were dropped by the cap; set when the request reached below it. `all`: the task's retention time
   * is over and its output was removed, whatever was asked for. The text is then empty and there is nothing to read on.
   */
  readonly droppedBefore: number | "all" | null
  /** The run has ended and this is the end of its output, or of what was left of it. */
  readonly isComplete: boolean
}

export interface PatternRequest {
  /** The pattern a line must match; a string must occur in the line. */
  readonly pattern: RegExp | string
  /** Where to begin to look. Default 0: output printed before the call counts. */
  readonly offset?: number
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** How a wait for a pattern ended. Only the matching line is returned. */
export type PatternAnswer =
  | { readonly outcome: "matched"; readonly line: string; readonly offset: number; readonly nextOffset: number }
  | { readonly outcome: "ended" | "timed_out" | "aborted"; readonly nextOffset: number }
