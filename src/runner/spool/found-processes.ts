import { readdirSync } from "node:fs"
import { join } from "node:path"
import type { Clock } from "../../base/clock.ts"
import { type Found, findProcess } from "../process/adopt.ts"
import { forbidRun } from "../process/process-file.ts"
import { type RunPaths, toProcessName } from "./run-paths.ts"

/** What an earlier Meanwhile process left of the n-th process of a run. */
export interface FoundProcess {
  readonly number: number
  /** A process that never ran may be launched again in the same place of the run. Counted from 1. */
  readonly launch: number
  readonly path: string
  readonly found: Found
}

const NAME = /^process-(\d+)(?:-launch-(\d+))?$/

/**
 * Every process of a run by its number, the newest launch of each. Contract: none that is not among them can start
 * later on, though its wrapper may just have been spawned when Meanwhile died.
 */
export async function findProcesses(
  paths: RunPaths,
  toMarker: (number: number) => string,
  clock: Clock,
): Promise<Map<number, FoundProcess>> {
  const newest = new Map<number, FoundProcess>()
  const names = listNames(paths.directory)
  if (names.length === 0) return newest
  forbidRun(join(paths.directory, toProcessName(toNumbers(names).reduce((a, b) => Math.max(a, b), 0) + 1, 1)))
  for (const name of listNames(paths.directory)) {
    const match = NAME.exec(name)
    if (!match) continue
    const number = Number(match[1])
    const launch = Number(match[2] ?? 1)
    if ((newest.get(number)?.launch ?? 0) > launch) continue
    const path = join(paths.directory, name)
    newest.set(number, { number, launch, path, found: await findProcess(path, toMarker(number), clock) })
  }
  return newest
}

function toNumbers(names: readonly string[]): number[] {
  return names.flatMap((name) => NAME.exec(name)?.[1] ?? []).map(Number)
}

export function listNames(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
