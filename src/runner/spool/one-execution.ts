import type { OutputSource } from "./output-files.ts"

/** The output of a run between two beginnings, as if nothing were before it or after it. */
export interface ExecutionSource {
  readonly source: OutputSource
  /** Where the run was begun anew; null for its first execution. */
  readonly restartedAt: number | null
  /** True for the newest execution. Nothing is added to the others. */
  readonly isNewest: boolean
}

export function toNewestExecution(source: OutputSource): ExecutionSource {
  return toExecution(source, source.restarts.length)
}

/** The execution that printed the byte at this offset. */
export function toExecutionAt(source: OutputSource, offset: number): ExecutionSource {
  return toExecution(source, source.restarts.filter((restart) => restart <= offset).length)
}

function toExecution(whole: OutputSource, index: number): ExecutionSource {
  const { restarts, firstOffset, totalBytes } = whole
  const restartedAt = index === 0 ? null : (restarts[index - 1] ?? null)
  const end = restarts[index] ?? totalBytes
  return {
    source: {
      restarts: [],
      firstOffset: Math.min(Math.max(firstOffset, restartedAt ?? 0), end),
      totalBytes: end,
      read: (from, to) => whole.read(from, to),
    },
    restartedAt,
    isNewest: index === restarts.length,
  }
}
