/**
 * Waits for all, whatever becomes of them, and then throws what the first one threw: while one of them is under way, the
 * connection they share must not be given to anybody else.
 */
export async function settleAll(work: readonly Promise<unknown>[]): Promise<void> {
  const outcomes = await Promise.allSettled(work)
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason
}
