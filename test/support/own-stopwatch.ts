import { readdirSync, readFileSync } from "node:fs"
import { availableParallelism } from "node:os"

/** By which the kernel counts, wherever Linux runs. */
const TICK_MS = 10

export interface OwnStopwatch {
  /**
   * Since it was made, without what the machine computed meanwhile for others than this process and all that it started. On a
   * machine with nothing else to do this is the time on the wall.
   */
  elapsedMs(): number
}

export function createOwnStopwatch(): OwnStopwatch {
  const startedMs = performance.now()
  const before = othersMs()
  return {
    elapsedMs: () => performance.now() - startedMs - Math.max(0, othersMs() - before) / availableParallelism(),
  }
}

/** Zero where the kernel does not tell. */
function othersMs(): number {
  try {
    const [user = 0, nice = 0, system = 0, , , interrupt = 0, soft = 0, stolen = 0] = readWords("/proc/stat")
      .slice(1)
      .map(Number)
    // Stolen: the host of a virtual machine computed for its other guests.
    return (user + nice + system + interrupt + soft + stolen - ownTicks()) * TICK_MS
  } catch {
    return 0
  }
}

/** Of this process and its descendants, with those of them that are gone. */
function ownTicks(): number {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap(readProcess)
  const isOwn = new Set([process.pid])
  // Children have the higher number, until numbers begin anew: then they are taken for others.
  const own = processes
    .toSorted((one, other) => one.pid - other.pid)
    .filter(({ pid, parent }) => isOwn.has(pid) || (isOwn.has(parent) && isOwn.add(pid)))
  return own.reduce((sum, { ticks }) => sum + ticks, 0)
}

function readProcess(pid: string) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // What comes before is its name, which may hold anything.
    const fields = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number)
    const [user = 0, system = 0, childrenUser = 0, childrenSystem = 0] = fields.slice(11, 15)
    return [{ pid: Number(pid), parent: fields[1] ?? 0, ticks: user + system + childrenUser + childrenSystem }]
  } catch {
    return []
  }
}

const readWords = (path: string): string[] => readFileSync(path, "utf8").split("\n", 1)[0]?.split(/ +/) ?? []
