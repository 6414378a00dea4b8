import type { Clock } from "../../base/clock.ts"
import { sleep } from "../../base/sleep.ts"
import { isStillAlive, readCommand } from "./table.ts"
import { findMembers, listRelatives, type Member, type ProcessTree, sendSignal, signalGroup } from "./tree.ts"

export interface StopTiming {
  readonly clock: Clock
  /** Between SIGTERM and SIGKILL. */
  readonly graceMs: number
}

/** How long after SIGKILL a member may still be seen before it counts as a survivor. Shorter than a run is waited for. */
const KILL_DEADLINE_MS = 1_000
const FIRST_LOOK_MS = 4
const LONGEST_LOOK_MS = 50

/**
 * Contract: SIGTERM has been sent to the group when this returns its promise. It resolves with what is still alive when
 * the stop's own deadline is over: nothing, unless a process cannot be interrupted or belongs to somebody else.
 * `isMine` narrows the stop to some of the members.
 */
export async function stopTree(
  tree: ProcessTree,
  timing: StopTiming,
  isMine: (member: Member) => boolean = () => true,
): Promise<Member[]> {
  const { clock, graceMs } = timing
  const startedAt = clock.monotonic()
  // Looked up first: once its parent is dead nothing tells whose child a process without the marker was.
  const relatives = listRelatives(tree)
  const isCopy = createCopyCheck(tree)
  // The group's signal reaches those that are there. One born while its parent traps it has to be told by itself.
  const present = relatives.filter((member) => member.groupId === tree.leaderPid && !isCopy(member))
  const told = new Set(present.map((member) => member.pid))
  signalGroup(tree, "SIGTERM")
  // A stopped process sees the signal only when it goes on.
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
    // Newcomers are looked for at first and, where only a living parent tells whose they are, all the time.
    const isLooking = delayMs < LONGEST_LOOK_MS || tree.marker === undefined
    delayMs = Math.min(delayMs * 2, LONGEST_LOOK_MS)
    members = members.filter(isStillAlive)
    // Later, what those that are gone have started meanwhile.
    if (isLooking || members.length === 0) members = look(members)
  }
  return killMembers(tree, clock, look, members)
}

/**
 * True of a process that the wrapper has forked and that is not the command yet: it still traps the signal as the wrapper
 * does, and would forget it.
 */
function createCopyCheck({ leaderPid, marker }: ProcessTree): (member: Member) => boolean {
  if (marker === undefined) return () => false
  const wrapper = readCommand(leaderPid)
  return ({ pid }) => pid !== leaderPid && readCommand(pid) === wrapper
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
    // The wrapper is spared once, to write down how its command ended.
    if (round > 1) signalGroup(tree, "SIGKILL")
    for (const member of members) {
      if (round === 1 && member.pid === tree.leaderPid) continue
      // Without a marker, nothing tells whose child it was that is born while its parent dies: its group dies at once.
      if (tree.marker === undefined && member.groupId === member.pid) sendSignal(-member.pid, "SIGKILL")
      sendSignal(member.pid, "SIGKILL")
    }
    if (clock.monotonic() - startedAt > KILL_DEADLINE_MS) return members
    await sleep(clock, FIRST_LOOK_MS)
    members = look(members)
  }
  return []
}
