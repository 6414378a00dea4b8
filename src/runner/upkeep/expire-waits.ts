import { isMeanwhileError } from "../../base/error.ts"
import { expireWait } from "../command/answer-wait.ts"
import type { RunnerScope } from "../scope.ts"

/** Gives waits whose time is over the answer they were opened with. Nothing waits for ever that was not meant to. */
export async function expireWaits(scope: RunnerScope): Promise<void> {
  for (const wait of await scope.store.waits({ isOpen: true, expiresBy: scope.clock.now() })) {
    try {
      await expireWait(scope, wait)
    } catch (error) {
      if (!isMeanwhileError(error, "wrong_state")) throw error
    }
  }
}
