import type { CancelTimer, Clock } from "../../base/clock.ts"
import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { Log } from "../../plugin/context.ts"

type ChoreScope = { readonly clock: Clock; readonly log: Log }

export interface Chore {
  /** Ends the chore and waits for work under way. */
  close(): Promise<void>
}

/** Does a chore again and again, never twice at once. If it fails, it is tried again at its next turn. */
export function repeat(scope: ChoreScope, everyMs: number, chore: () => Promise<void>): Chore {
  let isClosed = false
  let cancelTimer: CancelTimer = schedule()
  let doing: Promise<void> | undefined

  function schedule(): CancelTimer {
    return scope.clock.schedule(
      everyMs,
      () => {
        doing = chore()
          .catch((error: unknown) => warn(scope, error))
          .finally(() => {
            if (!isClosed) cancelTimer = schedule()
          })
      },
      { isBackground: true },
    )
  }
  return {
    async close() {
      isClosed = true
      cancelTimer()
      await doing
    },
  }
}

export function warn(scope: { readonly log: Log }, error: unknown): void {
  if (isMeanwhileError(error, "closed")) return
  scope.log.warn("a chore could not be done; trying again", { error: toErrorMessage(error) })
}
