import { isMeanwhileError } from "../../base/error.ts"
import { expireWait } from "./answer-wait.ts"
import type { FenceScope, HasClock, HasQueue } from "../run/scope.ts"

/**
 * Gives waits whose time is over the answer they were opened with. Nothing waits for ever that was not meant to. One that
 * cannot be answered now keeps no other one open.
 */
export async function expireWaits(scope: FenceScope & HasClock & HasQueue): Promise<void> {
  const overdue = await scope.store.waits({ isOpen: true, expiresBy: scope.clock.now() })
  const outcomes = await Promise.allSettled(overdue.map((wait) => expireWait(scope, wait)))
  for (const outcome of outcomes)
    if (outcome.status === "rejected" && !isMeanwhileError(outcome.reason, "wrong_state")) throw outcome.reason
}
