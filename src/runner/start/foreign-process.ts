import type { CancelTimer, Clock } from "../../base/clock.ts"
import { MeanwhileError } from "../../base/error.ts"
import type { JsonObject } from "../../base/json.ts"
import type { Survivor } from "../../task/stop.ts"
import { isStillAlive, isZombie, type ProcessEntry, readProcess } from "../process/table.ts"
import { stopTree } from "../process/stop-tree.ts"
import { toSurvivor } from "../process/tree.ts"

const LOOK_EVERY_MS = 100

export type ForeignProcess = ReturnType<typeof watchForeignProcess>

/**
 * A process that somebody else started. It can be watched and stopped, but its output and exit code stay unknown.
 * Refuses a process that does not run, and one that could not be stopped without ending Meanwhile itself.
 */
export function watchForeignProcess(pid: number, clock: Clock) {
  const leader = requireForeign(pid)
  const ended = Promise.withResolvers<JsonObject>()
  let cancelTimer: CancelTimer = clock.schedule(LOOK_EVERY_MS, look)

  function look(): void {
    if (isStillAlive(leader)) cancelTimer = clock.schedule(LOOK_EVERY_MS, look)
    else ended.resolve({ exitCode: null })
  }

  async function stop(graceMs: number, onSurvivors: (survivors: readonly Survivor[]) => void): Promise<JsonObject> {
    cancelTimer()
    const left = await stopTree({ leaderPid: pid, leaderStartedAt: leader.startedAt }, { clock, graceMs })
    onSurvivors(left.map(toSurvivor))
    return { exitCode: null }
  }

  return {
    pid,
    /** Resolves when the process has ended; once it is being stopped, when the stop is over. */
    ended: ended.promise,
    /** Stops watching the process. */
    release: () => cancelTimer(),
    /**
     * On abort, ends the process and its descendants: SIGTERM first, SIGKILL after the grace period. `onSurvivors` is told
     * what still lives then.
     */
    stopOn(signal: AbortSignal, graceMs: number, onSurvivors: (survivors: readonly Survivor[]) => void): void {
      signal.addEventListener("abort", () => ended.resolve(stop(graceMs, onSurvivors)), { once: true })
    },
  }
}

function requireForeign(pid: number): ProcessEntry {
  const entry = Number.isSafeInteger(pid) && pid > 0 ? readProcess(pid) : undefined
  if (!entry || isZombie(entry)) {
    throw new MeanwhileError("invalid_input", `There is no process ${pid} to adopt. Give the pid of one that runs.`, {
      pid,
    })
  }
  if (pid !== 1 && !holdsThisProcess(pid)) return entry
  const message = `Process ${pid} cannot be adopted: ending it would end Meanwhile too. Give the pid of the work itself.`
  throw new MeanwhileError("invalid_input", message, { pid })
}

/** True if this process, or an ancestor of it, is that process or belongs to its group. */
function holdsThisProcess(pid: number): boolean {
  for (let each = readProcess(process.pid); each && each.pid > 0; each = readProcess(each.parentPid)) {
    if (each.pid === pid || each.groupId === pid) return true
  }
  return false
}
