import type { Clock } from "../../base/clock.ts"
import { type Ending, UNKNOWN_ENDING } from "./ending.ts"
import { readBootId } from "./identity.ts"
import type { RunningProcess } from "./launch.ts"
import { type Claim, forbidRun, readClaim, readEnding, readStart } from "./process-directory.ts"
import { sleep } from "./sleep.ts"
import { isZombie, listProcesses, readProcess } from "./table.ts"
import { type ProcessTree, sendSignal } from "./tree.ts"

/** What became of a command whose Meanwhile died. */
export type Found =
  | { readonly state: "ended"; readonly ending: Ending; readonly tree: ProcessTree | undefined }
  | { readonly state: "alive"; readonly tree: ProcessTree }
  /** It did not run and now never will. */
  | { readonly state: "never_ran" }
  /** It ran, it is gone, and nobody knows how it ended. Others of its tree may live. */
  | { readonly state: "lost"; readonly tree: ProcessTree | undefined }

const POLL_MS = 50
/** A wrapper between creating its file and writing it needs microseconds; one that hangs there for so long is ended. */
const UNFINISHED_CLAIM_MS = 1_000

/** Contract: after `never_ran` or `lost` the old wrapper can no longer start its command. */
export async function findProcess(directory: string, marker: string, clock: Clock): Promise<Found> {
  const claim = await settleClaim(directory, marker, clock)
  const ending = readEnding(directory)
  if (claim === undefined) return ending ? { state: "ended", ending, tree: undefined } : { state: "never_ran" }
  const tree = claim.bootId === readBootId() ? toTree(directory, claim, marker) : undefined
  if (ending) return { state: "ended", ending, tree }
  return tree && isLeaderAlive(tree) ? { state: "alive", tree } : { state: "lost", tree }
}

/** Watches a process that is not our child as if it were. */
export function adoptProcess(directory: string, tree: ProcessTree, clock: Clock): RunningProcess {
  return { tree: () => tree, ended: pollEnding(directory, tree, clock), release: () => undefined }
}

async function pollEnding(directory: string, tree: ProcessTree, clock: Clock): Promise<Ending> {
  for (;;) {
    const isAlive = isLeaderAlive(tree)
    const ending = readEnding(directory)
    // The file is looked at after the process: one that ended in between has written it before.
    if (!isAlive) return ending ?? UNKNOWN_ENDING
    await sleep(clock, POLL_MS)
  }
}

/** Undefined when nobody holds the claim that could run the command: from now on it is forbidden. */
async function settleClaim(directory: string, marker: string, clock: Clock): Promise<Claim | undefined> {
  const startedAt = clock.monotonic()
  for (;;) {
    const claim = readClaim(directory)
    if (typeof claim === "object") return claim
    if (claim === "forbidden" || (claim === "missing" && forbidRun(directory))) return undefined
    const alive = listProcesses(marker).filter((entry) => entry.isMarked && !isZombie(entry))
    if (claim === "unfinished" && alive.length === 0) return undefined
    if (clock.monotonic() - startedAt > UNFINISHED_CLAIM_MS) for (const { pid } of alive) sendSignal(pid, "SIGKILL")
    await sleep(clock, 1)
  }
}

function toTree(directory: string, claim: Claim, marker: string): ProcessTree {
  const start = readStart(directory) ?? startOfMarked(claim.pid, marker)
  return { leaderPid: claim.pid, leaderStartedAt: start ?? NEVER, watcherPid: claim.watcherPid, marker }
}

/** Equal to no start time: nothing that lives can be the process that was meant. */
const NEVER = ""

/** Of a wrapper whose watcher had no time to note it: whoever has the pid and carries the marker is the one. */
function startOfMarked(pid: number, marker: string): string | undefined {
  return listProcesses(marker).find((entry) => entry.pid === pid && entry.isMarked)?.startedAt
}

function isLeaderAlive(tree: ProcessTree): boolean {
  const leader = readProcess(tree.leaderPid)
  return leader !== undefined && leader.startedAt === tree.leaderStartedAt && !isZombie(leader)
}
