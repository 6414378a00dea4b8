import { closeSync, openSync, readSync } from "node:fs"
import { type Effect, parseEffects } from "./effects.ts"

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

/**
 * Drops late effects. A process that is frozen between the look at its lease and the effect acts when it goes on, although
 * another worker has finished the step: no check closes this window, which is why effects are handed an idempotency key.
 * Only steps that may be repeated can come to that.
 */
function withoutLate(lines: readonly string[], stoodStill: ReadonlySet<number>): readonly string[] {
  const finished = new Set<string>()
  return lines.filter((line) => {
    const [what = "", key = "", pid = ""] = line.split(" ")
    if (what === "done") finished.add(key)
    return !(what === "did" && finished.has(key) && !key.endsWith("-once") && stoodStill.has(Number(pid)))
  })
}
