import { followRun } from "./follow-output.ts"
import type { ActiveRun } from "../run/active-run.ts"
import { confirmOwned } from "../run/ownership.ts"
import { reportDropped } from "../run/running-notes.ts"
import { streamOutput } from "./stream-output.ts"
import type { OutputScope } from "../run/scope.ts"
import type { RunSpool } from "../spool/run-spool.ts"

/** Where the run's output and processes are kept. What the store knows is kept on disk from the first byte. */
export function spoolOf(scope: OutputScope, active: ActiveRun): RunSpool {
  if (active.spool) return active.spool
  active.spool = scope.spool.openRun(active.taskId, active.run, {
    outputLimitBytes: active.limits.outputBytes ?? scope.config.outputLimitBytes,
    onDropped: (before) => reportDropped(scope, active, before),
    isOurs: () => confirmOwned(scope, active),
  })
  if (active.standing.in !== "foreground") active.spool.keep()
  streamOutput(scope, active)
  followRun(scope, active)
  return active.spool
}
