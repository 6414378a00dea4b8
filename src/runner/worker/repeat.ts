import type { CancelTimer, Clock } from "../../base/clock.ts"
import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { Log } from "../../plugin/context.ts"

type ChoreScope = { readonly clock: Clock; readonly log: Log }

export interface Chore {
  /** Ends the chore and waits for work under way. */
  close(): Promise<void>
}

/**
 * Does a chore again and again, never twice at once. If it fails, it is tried again at its next turn, unless the store is
 * gone: then it can never be done again.
 */
export function repeat(scope: ChoreScope, everyMs: number, chore: () => Promise<void>): Chore {
  let isClosed = false
  let cancelTimer: CancelTimer = schedule()
  let doing: Promise<void> | undefined

  function schedule(): CancelTimer {
    return scope.clock.schedule(
      everyMs,
      () => {
        doing = chore()
          .catch((error: unknown) => {
            isClosed ||= isMeanwhileError(error, "store_gone")
            warn(scope, error)
          })
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

/** Says nothing of a store that is gone: the renewal of the lease says it once. */
export function warn(scope: { readonly log: Log }, error: unknown): void {
  if (isMeanwhileError(error, "closed") || isMeanwhileError(error, "store_gone")) return
  scope.log.warn("a chore could not be done; trying again", { error: toErrorMessage(error) })
}
