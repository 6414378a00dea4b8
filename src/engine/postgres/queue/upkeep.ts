import { type Clock, systemClock } from "../../../base/clock.ts"
import { toErrorMessage } from "../../../base/error.ts"
import type { Boss } from "./boss.ts"

const INTERVAL_MS = 20_000

/**
 * Makes pg-boss give back the tickets of dead processes, now and then. Other processes do the same, so the interval
 * need not be exact.
 */
export function createUpkeep(
  boss: Pick<Boss, "supervise">,
  onError: (message: string, error: string) => void,
  clock: Clock = systemClock,
): { close(): Promise<void> } {
  let underWay = Promise.resolve()
  let isClosed = false
  let cancel = plan()

  function plan(): () => void {
    return clock.schedule(INTERVAL_MS * (0.75 + Math.random() / 2), begin, { isBackground: true })
  }

  function begin(): void {
    underWay = look()
  }

  async function look(): Promise<void> {
    try {
      await boss.supervise()
    } catch (error) {
      if (!isClosed) onError("the queue could not be looked after; trying again", toErrorMessage(error))
    }
    if (!isClosed) cancel = plan()
  }

  return {
    async close() {
      isClosed = true
      cancel()
      await underWay
    },
  }
}
