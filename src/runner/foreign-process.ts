import type { CancelTimer, Clock } from "../base/clock.ts"
import type { JsonObject } from "../base/json.ts"
import { readProcess } from "./process/table.ts"
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

/** Undefined when there is no such process. */
export function watchForeignProcess(pid: number, clock: Clock): ForeignProcess | undefined {
  const leader = readProcess(pid)
  if (!leader) return undefined
  const ended = Promise.withResolvers<JsonObject>()
  let cancelTimer: CancelTimer = clock.schedule(LOOK_EVERY_MS, look)

  function look(): void {
    if (leader && isStillAlive(leader)) cancelTimer = clock.schedule(LOOK_EVERY_MS, look)
    else ended.resolve({ exitCode: null })
  }

  function stop(graceMs: number): void {
    if (!leader) return
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
  return findMembers({ leaderPid: leader.pid, leaderStartedAt: leader.startedAt, marker: "\0" }, [leader])
}
