import type { CancelTimer, Clock } from "../../base/clock.ts"
import type { Operation } from "../../task/operation.ts"
import { isInDoubt, isRefusedForNow } from "../../task/store-refusal.ts"
import type { CommitOptions, TaskStore } from "../../task/store.ts"
import { type Answers, recallCommit } from "./recall-commit.ts"
import { withCommit } from "./with-commit.ts"

const PATIENCE_MS = 15_000
/** The next start takes over what a process leaves that could not write. */
const LEAVING_PATIENCE_MS = 200
const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2_000

export interface SteadyStoreOptions {
  readonly clock: Pick<Clock, "monotonic" | "schedule">
  /** Once it aborts, a store that takes no writes is hardly waited for any more. */
  readonly leaving: AbortSignal
}

/**
 * A store whose commits are repeated while it takes no writes for a moment. The one place that repeats a commit whose fate
 * is not known: before that, it finds out from what the commit would have written, however long the store cannot be read.
 * So a caller that is refused knows that nothing was stored, unless the process is being left.
 */
export function createSteadyStore(store: TaskStore, { clock, leaving }: SteadyStoreOptions): TaskStore {
  async function commit(operations: readonly Operation[], options?: CommitOptions): Promise<Answers> {
    const startedMs = clock.monotonic()
    try {
      return await store.commit(operations, options)
    } catch (error) {
      // Leases are renewed at their own times, and a renewal may happen twice.
      if (!isRefusedForNow(error) || operations.every(({ op }) => op.startsWith("lease."))) throw error
      if (!isPatient(options) && !isInDoubt(error)) throw error
      return await commitAgain(operations, options, { error, startedMs })
    }
  }

  async function commitAgain(
    operations: readonly Operation[],
    options: CommitOptions | undefined,
    first: { readonly error: unknown; readonly startedMs: number },
  ): Promise<Answers> {
    const pauses = createPauses(clock, leaving, first.startedMs)
    let refusal = first.error
    let isDoubtful = false
    for (;;) {
      isDoubtful ||= isInDoubt(refusal)
      const answers = isDoubtful ? await recall(operations) : null
      if (answers) return answers
      if (!isRefusedForNow(refusal) || !isPatient(options) || pauses.areOver()) throw refusal
      await pauses.next()
      try {
        return await store.commit(operations, options)
      } catch (error) {
        refusal = error
      }
    }
  }

  async function recall(operations: readonly Operation[]): Promise<Answers | null> {
    for (const pauses = createPauses(clock, leaving, clock.monotonic()); ; await pauses.next()) {
      try {
        return await recallCommit(store, operations)
      } catch (error) {
        if (!isRefusedForNow(error) || (leaving.aborted && pauses.areOver())) throw error
      }
    }
  }

  return withCommit(store, commit)
}

const isPatient = ({ waitsForStore = true, whenAway = "wait" }: CommitOptions = {}): boolean =>
  waitsForStore && whenAway === "wait"

/** Pauses that become longer. The signal ends the one that is under way. An engine may have waited since `startedMs`. */
function createPauses(clock: SteadyStoreOptions["clock"], leaving: AbortSignal, startedMs: number) {
  let pauseMs = FIRST_PAUSE_MS
  return {
    areOver: (): boolean => clock.monotonic() - startedMs >= (leaving.aborted ? LEAVING_PATIENCE_MS : PATIENCE_MS),
    async next(): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>()
      const goOn = (): void => resolve()
      const cancel: CancelTimer = clock.schedule(pauseMs, goOn)
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
      leaving.addEventListener("abort", goOn)
      await promise
      leaving.removeEventListener("abort", goOn)
      cancel()
    },
  }
}
