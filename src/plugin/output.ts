/** Which part of a task's output is asked for. Offsets are absolute: byte 0 is the first byte ever printed. */
export interface OutputRequest {
  /** From here on. Default 0. */
  readonly offset?: number
  /** Instead of an offset: the last so many bytes. */
  readonly tailBytes?: number
  readonly limitBytes?: number
  /** Only lines that match. */
  readonly filter?: RegExp
  readonly run?: number
}

export interface OutputChunk {
  /** Redacted, as text: bytes that are no UTF-8 show as U+FFFD, a character cut at the end is left for the next read. */
  readonly text: string
  readonly offset: number
  /** Where to read on. */
  readonly nextOffset: number
  /** Bytes printed so far. */
  readonly totalBytes: number
  /** Bytes below this were dropped by the cap; set when the request reached below it. */
  readonly droppedBefore: number | null
  /** The run has ended and this is the end of its output. */
  readonly isComplete: boolean
}

export interface PatternRequest {
  readonly pattern: RegExp
  /** Where to begin to look. Default 0: output printed before the call counts. */
  readonly offset?: number
  readonly timeoutMs: number
  readonly signal?: AbortSignal
}

/** How a wait for a pattern ended. Only the matching line is returned. */
export type PatternAnswer =
  | { readonly outcome: "matched"; readonly line: string; readonly offset: number; readonly nextOffset: number }
  | { readonly outcome: "ended" | "timed_out" | "aborted"; readonly nextOffset: number }
