import { uptime } from "node:os"

/** The times a machine has. Only differences of the first and the last are looked at. */
export interface MachineTimes {
  /** Never set, and stands still while the machine is suspended. */
  monotonicMs(): number
  /** May be set by anybody at any time. */
  wallMs(): number
  /** Never set, and goes on while the machine is suspended; coarse, and not quick to ask for. */
  uptimeMs(): number
}

/** Milliseconds that pass for this machine, whether it is suspended or its clock is set. */
export type SteadyTime = () => number

/** The uptime is in whole seconds on some systems: what differs by less may be nothing. */
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

/** Some sandboxes do not tell it: then a suspension shows when the server says its time the next time. */
function readUptimeMs(): number {
  try {
    return uptime() * 1_000
  } catch {
    return performance.now()
  }
}
