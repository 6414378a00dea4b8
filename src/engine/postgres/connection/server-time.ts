import type { Clock } from "../../../base/clock.ts"
import type { Query } from "./database.ts"
import { uptime } from "node:os"

/** The time of the server, known without asking for it. */
export interface ServerTime {
  /**
   * In whole milliseconds. Never before a time that the server has told, and behind its clock by no more than its
   * answer took.
   */
  now(): number
  /**
   * Called when a question is sent that the server answers with its time. That time is to be passed to the returned
   * function.
   */
  ask(): (serverNowMs: number) => void
}

/**
 * The time that the server tells was true at some moment between question and answer. It is taken for the time of the
 * answer, so that this clock is never ahead: nothing is over too early, and no time that was written lies in the
 * future. A quicker answer brings this clock nearer to the server's. An answer that contradicts what is known is from a
 * clock that was set, or from another server, and replaces it.
 */
export function createServerTime(steady: SteadyTime = createSteadyTime()): ServerTime {
  let known: { readonly serverMs: number; readonly steadyMs: number } | undefined

  const expectedAt = (steadyMs: number): number => (known ? known.serverMs + (steadyMs - known.steadyMs) : Number.NaN)

  return {
    now() {
      if (!known) throw new Error("The server has not told its time yet.")
      return Math.floor(expectedAt(steady()))
    },
    ask() {
      const askedMs = steady()
      return (serverMs) => {
        const answeredMs = steady()
        // The server leaves out fractions of a millisecond.
        const isKnown = serverMs <= expectedAt(answeredMs) && expectedAt(askedMs) <= serverMs + 1
        if (!isKnown) known = { serverMs, steadyMs: answeredMs }
      }
    },
  }
}

/** The time of a given clock; the server is not asked. */
export function toGivenTime(clock: Pick<Clock, "now">): ServerTime {
  return { now: () => clock.now(), ask: () => () => {} }
}

/** The time of the server, in whole milliseconds. It advances within a transaction. */
export const NOW = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

export async function readNow(query: Query): Promise<number> {
  const [row] = await query<{ now: number }>(`SELECT ${NOW} AS now`)
  return row?.now ?? 0
}

/** The clocks of a machine. Of `monotonicMs` and `uptimeMs` only differences count. */
interface MachineTimes {
  /** Never set, and stands still while the machine is suspended. */
  monotonicMs(): number
  /** May be set by anybody at any time. */
  wallMs(): number
  /** Never set, and goes on while the machine is suspended. Coarse, and slow to read. */
  uptimeMs(): number
}

/** Milliseconds that pass for this machine, whether it is suspended or its clock is set. */
type SteadyTime = () => number

/** The uptime is in whole seconds on some systems, so a smaller difference may mean nothing. */
const COARSE_MS = 3_000

/** The wall clock shows that something happened, and the uptime whether it was a suspension. */
export function createSteadyTime(machine: MachineTimes = thisMachine): SteadyTime {
  const { monotonicMs, wallMs, uptimeMs } = machine
  const uptimeAheadMs = uptimeMs() - monotonicMs()
  let wallAheadMs = wallMs() - monotonicMs()
  let suspendedMs = 0
  return () => {
    const nowMs = monotonicMs()
    const aheadMs = wallMs() - nowMs
    if (Math.abs(aheadMs - wallAheadMs) > COARSE_MS) {
      wallAheadMs = aheadMs
      const stoodMs = uptimeMs() - nowMs - uptimeAheadMs
      if (stoodMs - suspendedMs > COARSE_MS) suspendedMs = stoodMs
    }
    return nowMs + suspendedMs
  }
}

const thisMachine: MachineTimes = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  uptimeMs: readUptimeMs,
}

/** Some sandboxes do not tell the uptime. A suspension then shows only when the server tells its time again. */
function readUptimeMs(): number {
  try {
    return uptime() * 1_000
  } catch {
    return performance.now()
  }
}
