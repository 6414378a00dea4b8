import type { CancelTimer } from "../base/clock.ts"
import type { ActiveRun } from "./active-run.ts"
import { spoolOf } from "./run-spool.ts"
import type { RunnerScope } from "./scope.ts"

const LOOK_EVERY_MS = 40

/** Passes a run's output on while somebody watches it. */
export interface OutputFollower {
  /** Passes on what is left and stops. */
  finish(): Promise<void>
}

export function followOutput(scope: RunnerScope, active: ActiveRun, onOutput: (text: string) => void): OutputFollower {
  let offset = 0
  let looking: Promise<void> = Promise.resolve()
  let cancelTimer: CancelTimer = schedule()

  async function look(): Promise<void> {
    for (;;) {
      const chunk = await spoolOf(scope, active).read({ offset })
      const isStuck = chunk.nextOffset === offset
      offset = chunk.nextOffset
      if (chunk.text !== "") onOutput(chunk.text)
      if (isStuck || offset >= chunk.totalBytes) return
    }
  }

  function schedule(): CancelTimer {
    return scope.clock.schedule(LOOK_EVERY_MS, () => {
      looking = look().then(() => {
        cancelTimer = schedule()
      })
      looking.catch((error: unknown) => scope.log.warn("output could not be read", { error: String(error) }))
    })
  }

  return {
    async finish() {
      await looking.catch(() => {})
      cancelTimer()
      await look()
    },
  }
}
