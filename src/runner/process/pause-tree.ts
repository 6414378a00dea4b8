import type { Clock } from "../../base/clock.ts"
import { sleep } from "../../base/sleep.ts"
import { readProcess } from "./table.ts"
import { findMembers, type Member, type ProcessTree, sendSignal, signalGroup } from "./tree.ts"

/** A process in the middle of a long write stops only after the write. */
const PAUSE_DEADLINE_MS = 1_000

/** Suspends every member. False when one kept moving until the deadline; the others then stay suspended. */
export async function pauseTree(tree: ProcessTree, clock: Clock): Promise<boolean> {
  const startedAt = clock.monotonic()
  signalGroup(tree, "SIGSTOP")
  let members: Member[] = findMembers(tree)
  for (;;) {
    for (const member of members) sendSignal(member.pid, "SIGSTOP")
    const moving = members.filter(isMoving)
    if (moving.length === 0) {
      const seen = new Set(members.map((member) => member.pid))
      members = findMembers(tree, members)
      // A member may have started another process between the look and the signal.
      if (members.every((member) => seen.has(member.pid))) return true
      continue
    }
    if (clock.monotonic() - startedAt > PAUSE_DEADLINE_MS) return false
    await sleep(clock, 1)
  }
}

export function continueTree(tree: ProcessTree): void {
  signalGroup(tree, "SIGCONT")
  for (const member of findMembers(tree)) sendSignal(member.pid, "SIGCONT")
}

function isMoving(member: Member): boolean {
  const entry = readProcess(member.pid)
  return entry !== undefined && entry.startedAt === member.startedAt && !/^[TtZX]$/.test(entry.state)
}
