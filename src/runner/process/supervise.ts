import type { Clock } from "../../base/clock.ts"
import type { ProcessExit } from "../../plugin/process.ts"
import { UNKNOWN_ENDING, type Ending } from "./ending.ts"
import type { RunningProcess } from "./launch.ts"
import { stopTree } from "./stop-tree.ts"
import { mayHaveMarkedSuccessor } from "./table.ts"
import { findMembers, type Member, type ProcessTree, sendSignal, toSurvivor } from "./tree.ts"

export interface Supervision {
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly graceMs: number
}

/** For what a command left running in its own group when it ended. */
const LEFT_BEHIND_GRACE_MS = 500
const LONG_AGO_MS = Number.POSITIVE_INFINITY

/** How the command ended, and the living processes it left on purpose or that could not be ended. */
export interface Supervised {
  readonly exit: ProcessExit
  readonly left: readonly Member[]
}

/**
 * Waits for the command, or stops all it started when `signal` aborts. Either way nothing of its group is left, except
 * what could not be ended. A process that moved to a session of its own survives a natural end on purpose, not a stop.
 */
export async function superviseProcess(
  running: RunningProcess,
  supervision: Supervision,
): Promise<Supervised | "never_ran"> {
  const { clock, signal, graceMs } = supervision
  const startedAt = clock.monotonic()
  const ended = await endedOrAborted(running, signal)
  if (ended === "aborted") {
    const survivors = await stopTree(running.tree, { clock, graceMs })
    const ending = survivors.length === 0 ? await running.ended : UNKNOWN_ENDING
    return toSupervised(ending === "never_ran" ? UNKNOWN_ENDING : ending, survivors)
  }
  if (ended === "never_ran") return "never_ran"
  return toSupervised(
    ended,
    await clearGroup(running.tree, clock, running.isAdopted ? LONG_AGO_MS : clock.monotonic() - startedAt),
  )
}

export function toSupervised(ending: Ending, left: readonly Member[]): Supervised {
  return { exit: { ...ending, survivors: left.map(toSurvivor) }, left }
}

function endedOrAborted(running: RunningProcess, signal: AbortSignal): Promise<Ending | "never_ran" | "aborted"> {
  if (signal.aborted) return Promise.resolve("aborted")
  return new Promise((resolve) => {
    const onAbort = (): void => resolve("aborted")
    signal.addEventListener("abort", onAbort, { once: true })
    void running.ended.then((ending) => {
      signal.removeEventListener("abort", onAbort)
      resolve(ending)
    })
  })
}

/**
 * Stops what is left of the group of a command that ended, and returns what lives outside it. In the normal case that is
 * one signal to nobody and a look at the few processes that were started since.
 */
export async function clearGroup(tree: ProcessTree, clock: Clock, ranMs = LONG_AGO_MS): Promise<Member[]> {
  const isGroupEmpty = !sendSignal(-tree.leaderPid, 0)
  const mayHaveOthers = tree.marker !== undefined && mayHaveMarkedSuccessor(tree.leaderPid, tree.marker, ranMs)
  if (isGroupEmpty && !mayHaveOthers) return []
  const isInGroup = (member: Member): boolean => member.groupId === tree.leaderPid
  if (findMembers(tree).some(isInGroup)) await stopTree(tree, { clock, graceMs: LEFT_BEHIND_GRACE_MS }, isInGroup)
  return findMembers(tree)
}
