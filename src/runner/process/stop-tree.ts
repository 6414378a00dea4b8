import type { Clock } from "../../base/clock.ts"
import { sleep } from "../../base/sleep.ts"
import { isStillAlive, readCommand } from "./table.ts"
import { findMembers, listRelatives, type Member, type ProcessTree, sendSignal, signalGroup } from "./tree.ts"

export interface StopTiming {
  readonly clock: Clock
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs: number
}

/**
 * A member seen this long after SIGKILL counts as a survivor. Shorter than the wait after which a run is given up, unless
 * each look at the processes takes long.
 */
const KILL_DEADLINE_MS = 1_000
/**
 * On a busy machine a single look may take longer than the deadline. The first round spares the wrapper, the second ends
 * its group, and the third ends what was born meanwhile: only a process that is left after them has survived.
 */
const LEAST_ROUNDS = 3
const FIRST_LOOK_MS = 4
const LONGEST_LOOK_MS = 50

/**
 * Contract: SIGTERM has been sent to the group when this returns its promise. The promise resolves with the members that
 * could not be ended: none, unless a process cannot be interrupted or belongs to another user. `isMine` narrows the stop
 * to some of the members.
 */
export async function stopTree(
  tree: ProcessTree,
  timing: StopTiming,
  isMine: (member: Member) => boolean = () => true,
): Promise<Member[]> {
  const { clock, graceMs } = timing
  const startedAt = clock.monotonic()
  // Looked up before the signal: once its parent is dead, nothing tells whose child a process without the marker was.
  const relatives = listRelatives(tree)
  const isCopy = createCopyCheck(tree)
  // The signal to the group reaches the members present now. One born while its parent traps the signal gets its own.
  const present = relatives.filter((member) => member.groupId === tree.leaderPid && !isCopy(member))
  const told = new Set(present.map((member) => member.pid))
  signalGroup(tree, "SIGTERM")
  // A suspended process receives SIGTERM only when it continues.
  signalGroup(tree, "SIGCONT")
  const look = (known: readonly Member[]): Member[] => findMembers(tree, known).filter(isMine)

  let members = look(relatives)
  for (let delayMs = FIRST_LOOK_MS; members.length > 0 && clock.monotonic() - startedAt < graceMs; ) {
    for (const member of members) {
      if (told.has(member.pid) || isCopy(member)) continue
      told.add(member.pid)
      sendSignal(member.pid, "SIGTERM")
      sendSignal(member.pid, "SIGCONT")
    }
    await sleep(clock, Math.min(delayMs, Math.max(startedAt + graceMs - clock.monotonic(), 1)))
    // Looks for new members at first; without a marker all the time, because only a living parent tells whose they are.
    const isLooking = delayMs < LONGEST_LOOK_MS || tree.marker === undefined || isStarting(tree, members)
    delayMs = Math.min(delayMs * 2, LONGEST_LOOK_MS)
    members = members.filter(isStillAlive)
    // Later, only once all known members are gone: they may have started others meanwhile.
    if (isLooking || members.length === 0) members = look(members)
  }
  return killMembers(tree, clock, look, members)
}

/**
 * Checks for a process that the wrapper has forked and that has not become the command yet. It still traps signals as
 * the wrapper does, and would swallow SIGTERM.
 */
function createCopyCheck({ leaderPid, marker }: ProcessTree): (member: Member) => boolean {
  if (marker === undefined) return () => false
  const wrapper = readCommand(leaderPid)
  return ({ pid }) => pid !== leaderPid && readCommand(pid) === wrapper
}

/**
 * True if nothing lives but the wrapper. On a busy machine it may take its time to start the command, which has then not
 * had the signal.
 */
function isStarting({ leaderPid }: ProcessTree, members: readonly Member[]): boolean {
  return members.every(({ pid }) => pid === leaderPid)
}

async function killMembers(
  tree: ProcessTree,
  clock: Clock,
  look: (known: readonly Member[]) => Member[],
  known: readonly Member[],
): Promise<Member[]> {
  const startedAt = clock.monotonic()
  let members = known.length === 0 ? [] : look(known)
  for (let round = 1; members.length > 0; round++) {
    // The first round spares the wrapper, which then writes down how its command ended.
    if (round > 1) signalGroup(tree, "SIGKILL")
    for (const member of members) {
      if (round === 1 && member.pid === tree.leaderPid) continue
      // Without a marker, nothing tells whose child a process is that is born while its parent dies: kills the whole group.
      if (tree.marker === undefined && member.groupId === member.pid) sendSignal(-member.pid, "SIGKILL")
      sendSignal(member.pid, "SIGKILL")
    }
    await sleep(clock, FIRST_LOOK_MS)
    members = look(members)
    if (round >= LEAST_ROUNDS && clock.monotonic() - startedAt > KILL_DEADLINE_MS) return members
  }
  return []
}
