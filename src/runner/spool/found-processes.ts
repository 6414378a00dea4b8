import { readdirSync } from "node:fs"
import { join } from "node:path"
import type { Clock } from "../../base/clock.ts"
import { type Found, findProcess } from "../process/adopt.ts"

/** What an earlier Meanwhile process left of the n-th process of a run. */
export interface FoundProcess {
  readonly number: number
  readonly attempt: number
  readonly directory: string
  readonly found: Found
}

const NAME = /^process-(\d+)(?:-attempt-(\d+))?$/

/** Every process of a run by its number, the newest attempt of each. */
export async function findProcesses(
  runDirectory: string,
  toMarker: (number: number) => string,
  clock: Clock,
): Promise<Map<number, FoundProcess>> {
  const newest = new Map<number, FoundProcess>()
  for (const name of listNames(runDirectory)) {
    const match = NAME.exec(name)
    if (!match) continue
    const number = Number(match[1])
    const attempt = Number(match[2] ?? 1)
    if ((newest.get(number)?.attempt ?? 0) > attempt) continue
    const directory = join(runDirectory, name)
    newest.set(number, { number, attempt, directory, found: await findProcess(directory, toMarker(number), clock) })
  }
  return newest
}

export function listNames(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}
