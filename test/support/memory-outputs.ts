import { MeanwhileError } from "../../src/base/error.ts"
import type { OutputPart, Outputs } from "../../src/task/outputs.ts"

export interface MemoryOutputs extends Outputs {
  /** All appended parts, in order. */
  readonly parts: readonly OutputPart[]
  /** The text that a reader sees: all parts belong to one run. */
  text(): string
  /** Makes `append` fail: with the error, or (`stale`) as if another worker had the run. Null: it works again. */
  refuseWith(error: Error | "stale" | null): void
}

/** A store for the output of one run. */
export function createMemoryOutputs(): MemoryOutputs {
  const parts: OutputPart[] = []
  let refusal: Error | "stale" | null = null
  let firstOffset = 0
  let bytes = Buffer.alloc(0)
  const restarts = new Map<number, number>()

  return {
    parts,
    text: () => bytes.toString(),
    refuseWith(error) {
      refusal = error
    },
    async append(part) {
      if (refusal === "stale") throw new MeanwhileError("stale_claim", "Another worker has it.")
      if (refusal) throw refusal
      const totalBytes = firstOffset + bytes.byteLength
      if (part.start > totalBytes && part.keepFrom < part.start) throw new Error("A gap in the output.")
      parts.push(part)
      const kept = bytes.subarray(Math.max(part.keepFrom - firstOffset, 0), Math.max(part.start - firstOffset, 0))
      bytes = Buffer.concat([kept, part.bytes])
      firstOffset = part.start + part.bytes.byteLength - bytes.byteLength
    },
    async restart({ fence }) {
      const start = restarts.get(fence) ?? firstOffset + bytes.byteLength
      restarts.set(fence, start)
      return start
    },
    extent: async () =>
      parts.length === 0
        ? undefined
        : { firstOffset, totalBytes: firstOffset + bytes.byteLength, restarts: [...new Set(restarts.values())] },
    read: async (_taskId, _run, start, end) => bytes.subarray(start - firstOffset, end - firstOffset),
  }
}
