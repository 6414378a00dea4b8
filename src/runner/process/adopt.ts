import type { Clock } from "../../base/clock.ts"
import { sleep } from "../../base/sleep.ts"
import { type Ending, UNKNOWN_ENDING, type Claim, type ProcessFacts, noteUntil, readFacts } from "./process-file.ts"
import { readBootId } from "./identity.ts"
import { isCopied } from "./place.ts"
import type { RunningProcess } from "./command.ts"
import { isStillAlive, isZombie, listProcesses, type MarkedEntry } from "./table.ts"
import { type ProcessTree, sendSignal } from "./tree.ts"

/** The outcome of a command whose Meanwhile process died. */
export type Found =
  | {
      readonly state: "ended"
      readonly ending: Ending
      readonly endedAtMs: number
      readonly tree: ProcessTree | undefined
      /** True if the guard stopped the command because it printed too much. */
      readonly wasOverLimit: boolean
      /** True if the guard stopped the command because its time limit was over. */
      readonly wasLate: boolean
    }
  | { readonly state: "alive"; readonly tree: ProcessTree }
  /** The command did not run and now never will. */
  | { readonly state: "never_ran"; readonly tree?: undefined }
  /** The command ran and is gone; how it ended is unknown. Other processes of its tree may live. */
  | { readonly state: "lost"; readonly tree: ProcessTree | undefined }

const POLL_MS = 50
/** A wrapper needs microseconds from its start to its claim. One that takes longer than this is killed. */
const CLAIM_DEADLINE_MS = 1_000

export async function findProcess(path: string, marker: string, clock: Clock): Promise<Found> {
  const facts = await settleClaim(path, marker, clock)
  if (!facts || typeof facts.claim !== "object") return { state: "never_ran" }
  const isOurs = facts.claim.bootId === readBootId() && !isCopied(path, facts.claim.place)
  const tree = isOurs ? toTree(facts, facts.claim, marker) : undefined
  if (!facts.ending && tree && isLeaderAlive(tree)) return { state: "alive", tree }
  // Read again: a process that ended since the first read has added its last line.
  const { ending, writtenAtMs, wasOverLimit, wasLate } = readFacts(path) ?? facts
  if (!ending) return { state: "lost", tree }
  return { state: "ended", ending, endedAtMs: writtenAtMs, tree, wasOverLimit, wasLate }
}

/** Watches a process that is not our child as if it were. Its time limit is kept here from now on, not by the guard. */
export function adoptProcess(path: string, tree: ProcessTree, clock: Clock): RunningProcess {
  if (readFacts(path)?.hasUntil) noteUntil(path, null)
  let isReleased = false
  const pause = (): Promise<void> => sleep(clock, POLL_MS, { isBackground: isReleased })
  return {
    path,
    tree,
    isAdopted: true,
    ended: pollEnding(path, tree, pause),
    release() {
      isReleased = true
    },
  }
}

async function pollEnding(path: string, tree: ProcessTree, pause: () => Promise<void>): Promise<Ending> {
  for (;;) {
    // Looks at the process before the file: a wrapper writes its last line before it ends.
    const isAlive = isLeaderAlive(tree)
    const ending = readFacts(path)?.ending
    if (!isAlive) return ending ?? UNKNOWN_ENDING
    await pause()
  }
}

/** Waits for a wrapper that is about to claim. A wrapper that died while claiming has left an unfinished line. */
async function settleClaim(path: string, marker: string, clock: Clock): Promise<ProcessFacts | undefined> {
  const startedAt = clock.monotonic()
  for (;;) {
    const facts = readFacts(path)
    if (facts && facts.claim !== "unfinished") return facts
    const alive = listProcesses(marker).filter((entry) => entry.isMarked && !isZombie(entry))
    if (alive.length === 0) return readFacts(path)
    if (clock.monotonic() - startedAt > CLAIM_DEADLINE_MS) for (const { pid } of alive) sendSignal(pid, "SIGKILL")
    await sleep(clock, 1)
  }
}

function toTree(facts: ProcessFacts, { pid }: Claim, marker: string): ProcessTree {
  // If the wrapper's start was not noted in time, the process with its pid and the marker is the wrapper.
  const isWrapper = (entry: MarkedEntry): boolean => entry.pid === pid && entry.isMarked
  const leaderStartedAt = facts.startedAt ?? listProcesses(marker).find(isWrapper)?.startedAt ?? NEVER
  return { leaderPid: pid, leaderStartedAt, marker }
}

/** Equals no start time, so no living process is taken for the leader. */
const NEVER = ""

function isLeaderAlive({ leaderPid: pid, leaderStartedAt: startedAt = NEVER }: ProcessTree): boolean {
  return isStillAlive({ pid, startedAt })
}
