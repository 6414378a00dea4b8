import { kindOf } from "../../plugin/tool.ts"
import type { RunReference } from "../../task/operation.ts"
import type { OutputExtent } from "../../task/outputs.ts"
import type { ActiveRun, RunCall } from "../run/active-run.ts"
import type { HasActive, OutputScope } from "../run/scope.ts"
import type { RunSpool } from "../spool/run-spool.ts"
import { isTurn } from "../tool/tool-source.ts"
import { followRun, openSpool, storeLeftOutput, streamOutput } from "./deliver-output.ts"

/**
 * Decides where the output of a run that was claimed before goes on. A run whose processes are found goes on in the files
 * that they print to. Any other begins a stream behind all that is there, and from then on nothing that an earlier holder
 * of the run prints is read by anybody. A crash in between changes nothing: the next claim decides anew.
 */
export async function continueOutput(scope: OutputScope & HasActive, active: ActiveRun, fence: number): Promise<void> {
  const { taskId, run, call } = active
  const { reattaches = false } = call.tool
  const printed = await scope.engine.outputs?.extent(taskId, run)
  // An agent that has printed nothing, as most do, begins its stream when it prints.
  if (!reattaches && !printed && !isBegunAnew(call) && !scope.spool.hasRun(taskId, run)) return
  const spool = openSpool(scope, active)
  const isGoingOn = reattaches && (await spool.reattach()) !== "never_ran"
  const isNewest = await isNewestExecution(scope, spool, printed)
  if (!(isGoingOn && isNewest)) {
    if (isGoingOn) await stopProcesses(scope, active, spool)
    spool.beginAnew()
    if (isNewest) await storeLeftOutput(scope, spool, { taskId, run, fence }, call.isInputHeld === true)
    const isRestart = isBegunAnew(call)
    await spool.beginStream(fence, {
      storedBytes: await findStart(scope, { taskId, run, fence }, isRestart),
      isRestart,
    })
  }
  streamOutput(scope, active)
  followRun(scope, active)
}

/** An agent, or a turn, goes on where its conversation is. Everything else does its work again. */
function isBegunAnew(call: RunCall): boolean {
  return kindOf(call.tool) !== "agent" && !isTurn(call)
}

/** False if another machine has begun the run anew since these files were printed. */
async function isNewestExecution({ engine }: OutputScope, spool: RunSpool, printed: OutputExtent | undefined) {
  if (!engine.outputs) return true
  const here = await spool.withSource(async ({ restarts }) => restarts.at(-1))
  return here === printed?.restarts.at(-1)
}

/** Their output would belong to no execution any more. */
async function stopProcesses({ config }: OutputScope, { control }: ActiveRun, spool: RunSpool): Promise<void> {
  control.survivors.push(...(await spool.stopAll(config.stopGraceSeconds * 1_000)))
}

/** Where the store's output ends, if the store keeps output. */
async function findStart(
  { engine: { outputs } }: OutputScope,
  run: Required<RunReference>,
  isRestart: boolean,
): Promise<number | undefined> {
  if (!outputs) return undefined
  const printed = await outputs.extent(run.taskId, run.run)
  if (!printed) return 0
  return isRestart ? outputs.restart(run) : printed.totalBytes
}
