import { readdirSync, readFileSync } from "node:fs"
import { availableParallelism } from "node:os"

/** The unit in which Linux counts processor time. */
const TICK_MS = 10

export interface OwnStopwatch {
  /**
   * The time since the stopwatch was made, less the time that the machine computed for processes other than this one and its
   * descendants. On a machine without other work this is wall time.
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

/** The processor time of all other processes; 0 where the kernel does not tell it. */
function othersMs(): number {
  try {
    const [user = 0, nice = 0, system = 0, , , interrupt = 0, soft = 0, stolen = 0] = readWords("/proc/stat")
      .slice(1)
      .map(Number)
    // Stolen is the time in which the host of a virtual machine computed for other guests.
    return (user + nice + system + interrupt + soft + stolen - ownTicks()) * TICK_MS
  } catch {
    return 0
  }
}

/** The processor time of this process and its descendants, including ended ones that were waited for. */
function ownTicks(): number {
  const processes = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap(readProcess)
  const isOwn = new Set([process.pid])
  // A child's pid is higher than its parent's, until pids wrap around: such a child counts as another process.
  const own = processes
    .toSorted((one, other) => one.pid - other.pid)
    .filter(({ pid, parent }) => isOwn.has(pid) || (isOwn.has(parent) && isOwn.add(pid)))
  return own.reduce((sum, { ticks }) => sum + ticks, 0)
}

function readProcess(pid: string) {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
    // The process's name comes before the bracket, and may contain anything.
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
