import type { Survivor } from "../../task/stop.ts"
import {
  isZombie,
  listDescendants,
  listProcesses,
  type MarkedEntry,
  type ProcessEntry,
  readCommand,
  readProcess,
} from "./table.ts"

/**
 * All processes of one command: its process group, every carrier of its marker, and their descendants. The wrapper
 * leads the group and its pid is the group's number.
 */
export interface ProcessTree {
  readonly leaderPid: number
  /**
   * The start time of the leader, which tells it from a later process with the same pid. Undefined if it could not be
   * read.
   */
  readonly leaderStartedAt: string | undefined
  /** `NAME=value` in the environment of every member. Undefined for a tree that Meanwhile did not start: it has none. */
  readonly marker?: string
}

/** A member as it was seen: only the same pid with the same start is still the same process. */
export type Member = Pick<ProcessEntry, "pid" | "startedAt" | "groupId">

/** Every living member, the wrapper included. Costs a look at every process of the machine. */
export function findMembers(tree: ProcessTree, known: readonly Member[] = []): MarkedEntry[] {
  const table = listProcesses(tree.marker).filter((entry) => !isZombie(entry))
  const isGroupOurs = ownsGroup(
    tree,
    table.find((entry) => entry.pid === tree.leaderPid),
  )
  const knownStarts = new Map(known.map((member) => [member.pid, member.startedAt]))
  const members = new Map<number, MarkedEntry>()
  for (const entry of table) {
    const isOurs =
      entry.isMarked ||
      (isGroupOurs && entry.groupId === tree.leaderPid) ||
      knownStarts.get(entry.pid) === entry.startedAt
    if (isOurs) members.set(entry.pid, entry)
  }
  addDescendants(members, table)
  members.delete(process.pid)
  return [...members.values()]
}

/**
 * The leader and its descendants. Of a tree without a marker, all members: once the leader is gone, nothing tells who
 * they were.
 */
export function listRelatives(tree: ProcessTree): Member[] {
  const leader = readProcess(tree.leaderPid)
  const known = leader && leader.startedAt === tree.leaderStartedAt ? [leader] : []
  if (tree.marker === undefined) return findMembers(tree, known)
  return known.length > 0 ? [...known, ...listDescendants(tree.leaderPid)] : []
}

export function toSurvivor(member: Member): Survivor {
  return { pid: member.pid, command: readCommand(member.pid) }
}

/** Signals the whole group at once, if it is still the tree's. False when it has no process that we may signal. */
export function signalGroup(tree: ProcessTree, signal: NodeJS.Signals | 0): boolean {
  return ownsGroup(tree, readProcess(tree.leaderPid)) && sendSignal(-tree.leaderPid, signal)
}

/** A negative `pid` means a group. False when there is no such process, or none that we may signal. */
export function sendSignal(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

/** A group's number is free again once its last member is gone: a leader with another start leads another group. */
function ownsGroup({ leaderStartedAt }: ProcessTree, leader: ProcessEntry | undefined): boolean {
  return leader === undefined || leaderStartedAt === undefined || leader.startedAt === leaderStartedAt
}

function addDescendants(members: Map<number, MarkedEntry>, table: readonly MarkedEntry[]): void {
  let before = -1
  while (before !== members.size) {
    before = members.size
    for (const entry of table) {
      if (members.has(entry.parentPid)) members.set(entry.pid, entry)
    }
  }
}
