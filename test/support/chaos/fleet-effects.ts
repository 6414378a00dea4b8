import { closeSync, openSync, readSync } from "node:fs"
import { type Effect, parseEffects } from "./effects.ts"

/** What the workers of a fleet have done, in the order in which it happened, whoever did it. */
export interface FleetEffects {
  readonly file: string
  /** How often something was done so far. */
  count(): number
  /** Lines that name this, as they are now. */
  lines(part: string): readonly string[]
  /** All of it, without what those did late who had stood still. */
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
 * Who is stopped between looking at the lease and acting acts when it goes on, whoever has finished the step meanwhile: this
 * is the window that no check closes, and for which effects are handed a key. Only steps that may be repeated come to that.
 */
function withoutLate(lines: readonly string[], stoodStill: ReadonlySet<number>): readonly string[] {
  const finished = new Set<string>()
  return lines.filter((line) => {
    const [what = "", key = "", pid = ""] = line.split(" ")
    if (what === "done") finished.add(key)
    return !(what === "did" && finished.has(key) && !key.endsWith("-once") && stoodStill.has(Number(pid)))
  })
}
