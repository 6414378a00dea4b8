import type { CancelTimer, Clock } from "../base/clock.ts"
import { MeanwhileError } from "../base/error.ts"
import type { JsonObject } from "../base/json.ts"
import { isZombie, type ProcessEntry, readProcess } from "./process/table.ts"
import { findMembers, isStillAlive, type Member, sendSignal } from "./process/tree.ts"

const LOOK_EVERY_MS = 100

/** A process somebody else started: it can be watched and stopped, but its output and exit code are not ours to know. */
export interface ForeignProcess {
  readonly pid: number
  readonly ended: Promise<JsonObject>
  /** On abort, ends it and its descendants: first by asking, after the grace by force. */
  stopOn(signal: AbortSignal, graceMs: number): void
  /** Stops watching it. */
  release(): void
}

/** Refuses what does not run, and what could not be stopped without ending Meanwhile itself. */
export function watchForeignProcess(pid: number, clock: Clock): ForeignProcess {
  const leader = requireForeign(pid)
  const ended = Promise.withResolvers<JsonObject>()
  let cancelTimer: CancelTimer = clock.schedule(LOOK_EVERY_MS, look)

  function look(): void {
    if (isStillAlive(leader)) cancelTimer = clock.schedule(LOOK_EVERY_MS, look)
    else ended.resolve({ exitCode: null })
  }

  function stop(graceMs: number): void {
    const members = membersOf(leader)
    for (const member of members) if (isStillAlive(member)) sendSignal(member.pid, "SIGTERM")
    const cancelKill = clock.schedule(graceMs, () => {
      for (const member of [...members, ...membersOf(leader)])
        if (isStillAlive(member)) sendSignal(member.pid, "SIGKILL")
    })
    void ended.promise.then(cancelKill)
  }

  return {
    pid,
    ended: ended.promise,
    release: () => cancelTimer(),
    stopOn: (signal, graceMs) => signal.addEventListener("abort", () => stop(graceMs), { once: true }),
  }
}

function membersOf(leader: Member): Member[] {
  return findMembers({ leaderPid: leader.pid, leaderStartedAt: leader.startedAt }, [leader])
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

/** Whether this process, or one that it descends from, is that process or belongs to its group. */
function holdsThisProcess(pid: number): boolean {
  for (let each = readProcess(process.pid); each && each.pid > 0; each = readProcess(each.parentPid)) {
    if (each.pid === pid || each.groupId === pid) return true
  }
  return false
}
