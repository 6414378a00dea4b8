import { setTimeout as pause } from "node:timers/promises"

const LOOK_EVERY_MS = 5
/** A look that takes long leaves others this many times as long, up to a moment that no test notices. */
const REST_FACTOR = 4
const LONGEST_REST_MS = 50
/** How long a broken test takes to fail. A test that passes never waits for this time to be over. */
const PATIENCE_MS = 30_000
/** How long one more look may take after that: less than a test's timeout, and long enough for an inner wait to fail first. */
const LATE_LOOK_MS = 20_000

/** The waits that are open now. When a wait hangs, its error names the others, among them what it hangs on. */
const open = new Set<{ readonly what: string }>()

/** Calls `look` again and again until it returns something other than undefined, null or false. */
export async function eventually<Found>(
  what: string,
  look: () => Found | undefined | null | false | Promise<Found | undefined | null | false>,
  patienceMs = PATIENCE_MS,
): Promise<Found> {
  const wait = { what }
  open.add(wait)
  const deadline = performance.now() + patienceMs
  const hung = Promise.withResolvers<never>()
  const toLate = (): Error => new Error(`It did not happen within ${patienceMs} ms: ${what}${toOthers(wait)}`)
  const alarm = setTimeout(() => hung.reject(toLate()), patienceMs + LATE_LOOK_MS)
  try {
    for (;;) {
      const lookedAt = performance.now()
      const found = await Promise.race([look(), hung.promise])
      if (found !== undefined && found !== null && found !== false) return found
      if (performance.now() > deadline) throw toLate()
      const tookMs = performance.now() - lookedAt
      await pause(Math.max(LOOK_EVERY_MS, Math.min(REST_FACTOR * tookMs, LONGEST_REST_MS)))
    }
  } finally {
    clearTimeout(alarm)
    open.delete(wait)
  }
}

function toOthers(wait: { readonly what: string }): string {
  const others = [...open].filter((other) => other !== wait).map((other) => other.what)
  return others.length === 0 ? "" : ` (also waited for: ${others.join(", ")})`
}
