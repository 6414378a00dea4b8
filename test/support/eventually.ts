import { setTimeout as pause } from "node:timers/promises"

const LOOK_EVERY_MS = 5
/** Never what a test waits for: only how long a broken one takes to fail. */
const PATIENCE_MS = 30_000

/** Looks again and again until what it is given returns something other than undefined, null or false. */
export async function eventually<Found>(
  what: string,
  look: () => Found | undefined | null | false | Promise<Found | undefined | null | false>,
  patienceMs = PATIENCE_MS,
): Promise<Found> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const found = await look()
    if (found !== undefined && found !== null && found !== false) return found
    if (performance.now() > deadline) throw new Error(`It did not happen within ${patienceMs} ms: ${what}`)
    await pause(LOOK_EVERY_MS)
  }
}
