import { subscribe } from "node:diagnostics_channel"
import { onTestFinished } from "vitest"
import { isZombie, listProcesses, type ProcessEntry, readProcess } from "../../src/runner/process/table.ts"

/** Living processes that carry the marker of the task's runs, in their environment. */
export function processesOf(taskId: string): number[] {
  return processesWith(`MEANWHILE_TASK=${taskId}`)
}

/**
 * Living processes with this beginning of a `NAME=value` in their environment. First the one that has started the others:
 * numbers are given in turn and begin again at the end, so its own is not always the lowest.
 */
export function processesWith(marker: string): number[] {
  const marked = listProcesses(marker).filter(
    (entry) => entry.isMarked && !isZombie(entry) && entry.pid !== process.pid,
  )
  const pids = new Set(marked.map(({ pid }) => pid))
  const isStarted = (entry: ProcessEntry): number => Number(pids.has(entry.parentPid))
  return marked.toSorted((one, other) => isStarted(one) - isStarted(other)).map(({ pid }) => pid)
}

export function isAlive(pid: number): boolean {
  const entry = readProcess(pid)
  return entry !== undefined && !isZombie(entry)
}

/** One letter, as `ps` shows it; undefined when there is no such process. */
export function stateOf(pid: number): string | undefined {
  return readProcess(pid)?.state
}

/** Whatever becomes of the test, nothing with this in its environment outlives it. */
export function endProcessesAfterTest(marker: string): void {
  onTestFinished(() => {
    for (const pid of processesWith(marker)) endNow(pid)
  })
}

/** How many processes this one has started so far, without those it waited for (`spawnSync`, `execFileSync`). */
let startedCount = 0
const countStarted = (): void => void startedCount++
subscribe("child_process", countStarted)

/** Node does not tell of a process in a terminal, which a library starts. */
export const onStartedInTerminal: () => void = countStarted

/**
 * The same for what the test starts from now on. One that starts nothing does not look: to read the environment of every
 * process of the machine took a tenth of the time of quick tests. Node does not tell of processes that it waits for: a
 * test that starts only such, and whose processes may start others, uses `endProcessesAfterTest`.
 */
export function endStartedAfterTest(marker: string): void {
  const startedBefore = startedCount
  onTestFinished(() => {
    if (startedCount === startedBefore) return
    for (const pid of processesWith(marker)) endNow(pid)
  })
}

export function endNow(pid: number): void {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It has ended by itself.
  }
}
