import { subscribe } from "node:diagnostics_channel"
import { onTestFinished } from "vitest"
import { eventually } from "./eventually.ts"
import { isZombie, listProcesses, type ProcessEntry, readProcess } from "../../src/runner/process/table.ts"

/** Living processes that carry the marker of the task's runs, in their environment. */
export function processesOf(taskId: string): number[] {
  return processesWith(`MEANWHILE_TASK=${taskId}`)
}

/**
 * Living processes whose environment has a `NAME=value` that begins with the marker. The one that started the others comes
 * first; its pid is not always the lowest, because pids wrap around.
 */
export function processesWith(marker: string): number[] {
  const marked = listProcesses(marker).filter(
    (entry) => entry.isMarked && !isZombie(entry) && entry.pid !== process.pid,
  )
  const pids = new Set(marked.map(({ pid }) => pid))
  const isStarted = (entry: ProcessEntry): number => Number(pids.has(entry.parentPid))
  return marked.toSorted((one, other) => isStarted(one) - isStarted(other)).map(({ pid }) => pid)
}

/**
 * Resolves once no living process has the marker. Those that were found are watched: to look at all processes of the machine
 * again and again took a fifth of the computing time of tests that wait for a program.
 */
export async function allEnded(marker: string): Promise<void> {
  for (let found = processesWith(marker); found.length > 0; found = processesWith(marker)) {
    const pids = found
    await eventually(`the processes ${pids.join(", ")} have ended`, () => !pids.some(isAlive))
  }
}

export function isAlive(pid: number): boolean {
  const entry = readProcess(pid)
  return entry !== undefined && !isZombie(entry)
}

/** One letter, as `ps` shows it; undefined when there is no such process. */
export function stateOf(pid: number): string | undefined {
  return readProcess(pid)?.state
}

/** Kills all processes with the marker after the test, also if it fails. */
export function endProcessesAfterTest(marker: string): void {
  onTestFinished(() => {
    for (const pid of processesWith(marker)) endNow(pid)
  })
}

/** The processes that this one has started so far, without those of `spawnSync` and `execFileSync`. */
let startedCount = 0
const countStarted = (): void => void startedCount++
subscribe("child_process", countStarted)

/** To be called for each process in a terminal: a library starts those, and Node does not tell of them. */
export const onStartedInTerminal: () => void = countStarted

/**
 * Like `endProcessesAfterTest`, but looks for processes only if the test starts one from now on: reading the environment of
 * every process of the machine took a tenth of the time of quick tests. Node does not tell of processes that it waits for; a
 * test that starts only those, and whose processes may start others, uses `endProcessesAfterTest`.
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
