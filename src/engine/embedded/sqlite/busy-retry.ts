import { isBusy } from "./sqlite-error.ts"

/** Another process holds the lock for about one commit. */
const RETRY_MS = 2
/** A process that was stopped in the middle of a commit holds the lock until it goes on or is killed. */
const PATIENCE_MS = 30_000

/** How long to wait before the next try; some of it by chance, so that two processes do not keep in step. */
export function nextRetryMs(): number {
  return RETRY_MS * (0.5 + Math.random())
}

/** Tries again while another process holds the lock, without blocking the event loop. */
export async function retryWhileBusy<Result>(attempt: () => Result, patienceMs = PATIENCE_MS): Promise<Result> {
  const patience = createPatience(patienceMs)
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || patience.isOver()) throw error
    }
    await new Promise((resolve) => setTimeout(resolve, nextRetryMs()))
  }
}

/** Real time, whatever clock the engine was given: nobody would advance another while waiting for a lock. */
export function createPatience(patienceMs = PATIENCE_MS): { isOver(): boolean; renew(): void } {
  let startedAt = performance.now()
  return {
    isOver: () => performance.now() - startedAt > patienceMs,
    renew() {
      startedAt = performance.now()
    },
  }
}
