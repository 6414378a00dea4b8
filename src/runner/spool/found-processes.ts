import { existsSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Clock } from "../../base/clock.ts"
import { type Found, findProcess } from "../process/adopt.ts"
import { forbidRun, readFacts } from "../process/process-file.ts"
import { listMarkerEndings } from "../process/table.ts"
import { DIRECTORY_MODE, listNames, type RunPaths, toProcessName } from "./run-paths.ts"

/** The remains of the n-th process of a run, left by an earlier Meanwhile process. */
export type FoundProcess = Launch & Found

export interface Launch {
  /** Counted from 1. A process that never ran, or whose run begins anew, is launched again under the same number. */
  readonly launch: number
  readonly path: string
}

const NAME = /^process-(\d+)(?:-launch-(\d+))?$/

/**
 * Contract: once this returns, no wrapper that an earlier owner of the run spawned before it died, or was about to spawn
 * when it was suspended, can begin to run its command. A suspended owner may not have made the folder yet, so the folder
 * is made here. Throws if it cannot guarantee this, as on a full disk.
 *
 * Takes the right to run from every wrapper that may exist without a claim. Concurrent calls claim in any order: a lower
 * number may be late, and a higher one may show only by its marker. The last wrapper may not even show a marker, if
 * Meanwhile died while spawning it. It then has the next number, or is the next launch of a process that never ran.
 */
export function forbidProcesses({ directory }: RunPaths, marker: string): void {
  mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE })
  const launches = listLaunches(directory)
  const isClaimed = (launch: Launch): boolean => readFacts(launch.path)?.claim !== "forbidden"
  const claimed = new Set([...launches].filter(([, launch]) => isClaimed(launch)).map(([number]) => number))
  const carried = listMarkerEndings(marker)
    .flatMap((ending) => /^\/(\d+)/.exec(ending)?.[1] ?? [])
    .map(Number)
  const known = Array.from({ length: largest(launches.keys()) }, (_, index) => index + 1)
  for (const number of new Set([...known, ...carried, largest([...claimed, ...carried]) + 1])) {
    if (claimed.has(number)) continue
    forbidRun(join(directory, toProcessName(number, (launches.get(number)?.launch ?? 0) + 1)))
  }
}

/**
 * True if an owner of the run left anything here; files that forbid a process do not count. If not, forbids its
 * processes.
 */
export function forbidIfNothingLeft(paths: RunPaths, marker: string): boolean {
  const names = listNames(paths.directory)
  const isForbidding = (name: string): boolean => readFacts(join(paths.directory, name))?.claim === "forbidden"
  if (names.length === 0 ? existsSync(paths.directory) : !names.every(isForbidding)) return true
  forbidProcesses(paths, marker)
  return false
}

/** The newest launch of every process of a run, by its number. `marker` is the run's. */
export async function findProcesses(paths: RunPaths, marker: string, clock: Clock): Promise<Map<number, FoundProcess>> {
  const processes = new Map<number, FoundProcess>()
  for (const [number, launch] of listLaunches(paths.directory)) {
    processes.set(number, { ...launch, ...(await findProcess(launch.path, `${marker}/${number}`, clock)) })
  }
  return processes
}

/** The newest launch of each number. */
export function listLaunches(directory: string): Map<number, Launch> {
  const newest = new Map<number, Launch>()
  for (const name of listNames(directory)) {
    const match = NAME.exec(name)
    if (!match) continue
    const number = Number(match[1])
    const launch = Number(match[2] ?? 1)
    if ((newest.get(number)?.launch ?? 0) < launch) newest.set(number, { launch, path: join(directory, name) })
  }
  return newest
}

/** The names of all process files of a run. */
export function listProcessNames({ directory }: RunPaths): string[] {
  return listNames(directory).filter((name) => NAME.test(name))
}

function largest(numbers: Iterable<number>): number {
  return Array.from(numbers).reduce((a, b) => Math.max(a, b), 0)
}
