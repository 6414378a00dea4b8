import type { Clock } from "../../../base/clock.ts"
import { createSteadyTime, type SteadyTime } from "./steady-time.ts"
import type { Query } from "./database.ts"

/** The time of the server, known without asking for it. */
export interface ServerTime {
  /**
   * Whole milliseconds. Never before what the server has said, and behind its clock by no more than its answer took.
   */
  now(): number
  /** Something is asked that the server answers with its time, which is to be handed to what this returns. */
  ask(): (serverNowMs: number) => void
}

/**
 * The server's time is true of some moment between question and answer. It counts as said at the last moment of those,
 * so that this time is never ahead: nothing is over too early, and no time that was written lies in the future. A
 * quicker answer brings it nearer. One that cannot be true with what is known is from a clock that was set, or from
 * another server's.
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
        // The server leaves out fractions.
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

/** The time of the server, in whole milliseconds. It goes on within a transaction. */
export const NOW = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint"

export async function readNow(query: Query): Promise<number> {
  const [row] = await query<{ now: number }>(`SELECT ${NOW} AS now`)
  return row?.now ?? 0
}
