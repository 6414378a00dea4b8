import { closeSync, openSync, readSync } from "node:fs"
import { type Effect, parseEffects, withoutLate } from "./effects.ts"

/** The effects of all workers of a fleet, in the order in which they happened. */
export interface FleetEffects {
  readonly file: string
  /** The number of lines so far. */
  count(): number
  /** The lines so far that contain this text. */
  lines(part: string): readonly string[]
  /** All effects, without those that a frozen process caused late (`stoodStill` holds the pids). */
  read(stoodStill: ReadonlySet<number>): readonly Effect[]
  close(): void
}

const CHUNK_BYTES = 65_536

export function createFleetEffects(file: string): FleetEffects {
  const descriptor = openSync(file, "a+")
  const chunk = Buffer.alloc(CHUNK_BYTES)
  const whole: string[] = []
  let position = 0
  let rest = ""

  function readOn(): readonly string[] {
    for (;;) {
      const length = readSync(descriptor, chunk, 0, CHUNK_BYTES, position)
      if (length === 0) return whole
      position += length
      const lines = `${rest}${chunk.toString("latin1", 0, length)}`.split("\n")
      rest = lines.pop() ?? ""
      whole.push(...lines)
    }
  }

  return {
    file,
    count: () => readOn().length,
    lines: (part) => readOn().filter((line) => line.includes(part)),
    read: (stoodStill) => parseEffects(withoutLate(readOn(), stoodStill).join("\n")),
    close: () => closeSync(descriptor),
  }
}
