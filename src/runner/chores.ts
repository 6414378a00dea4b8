import { withdrawQuestions } from "./ask/withdraw-questions.ts"
import type { CancelScope, OutputScope } from "./run/scope.ts"
import { stopLeftTurns } from "./turn/left-turns.ts"
import { sweepSpool } from "./recover/sweep.ts"
import { expireWaits } from "./ask/expire-waits.ts"
import { endLeftTasks } from "./stop/lifetimes.ts"
import { type Chore, repeat } from "./worker/repeat.ts"
import { applyRetention } from "./result/retention.ts"

const RETENTION_EVERY_MS = 60_000
const EXPIRY_EVERY_MS = 1_000
/** Seldom: it looks through the whole queue, and finds what a crash has left. */
const LEFT_WORK_EVERY_MS = 15_000
const SWEEP_EVERY_MS = 30_000
const RECLAIMS_PER_LEASE = 3

/** What a runner does by itself for as long as it lives. */
export function startChores(
  scope: OutputScope & CancelScope,
  reclaim: () => Promise<void>,
  { sweeps }: { readonly sweeps: boolean },
): readonly Chore[] {
  const { leaseSeconds, completionScanIntervalMs } = scope.config
  return [
    repeat(scope, EXPIRY_EVERY_MS, () => expireWaits(scope)),
    repeat(scope, (leaseSeconds * 1_000) / RECLAIMS_PER_LEASE, reclaim),
    repeat(scope, completionScanIntervalMs, () => withdrawQuestions(scope)),
    repeat(scope, LEFT_WORK_EVERY_MS, async () => {
      await stopLeftTurns(scope)
      await endLeftTasks(scope)
    }),
    repeat(scope, RETENTION_EVERY_MS, () => applyRetention(scope)),
    // What was still being decided elsewhere at the start: where there is one spool, nobody decides elsewhere.
    ...(sweeps && scope.engine.outputs ? [repeat(scope, SWEEP_EVERY_MS, () => sweepSpool(scope))] : []),
  ]
}
