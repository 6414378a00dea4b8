import { statSync } from "node:fs"
import { join } from "node:path"
import type { TaskId } from "../../task/id.ts"
import { isProcessAlive } from "../process/identity.ts"
import { readFacts } from "../process/process-file.ts"
import { listNames } from "./found-processes.ts"

/** A task's folder, with the runs that have one in it. */
export interface Orphan {
  readonly taskId: TaskId
  readonly runs: readonly number[]
}

/** From this age on, a folder without an owner is an orphan: a living process names itself at once, or has a task. */
const OWNERLESS_MS = 60_000

/**
 * Folders that no living Meanwhile process made. A process counts as alive if that cannot be found out, and so does the
 * unknown maker of a new folder.
 */
export function findOrphans(spoolDirectory: string): Orphan[] {
  return listNames(spoolDirectory)
    .filter((name) => isOrphan(join(spoolDirectory, name)))
    .map((name) => ({ taskId: name as TaskId, runs: listRuns(join(spoolDirectory, name)) }))
}

export function listRuns(taskDirectory: string): readonly number[] {
  return listNames(taskDirectory).map(Number).filter(Number.isSafeInteger)
}

function isOrphan(taskDirectory: string): boolean {
  const owners = listNames(taskDirectory)
    .flatMap((run) => listNames(join(taskDirectory, run)).map((name) => join(taskDirectory, run, name)))
    .filter((path) => path.includes("/process-"))
    .flatMap((path) => {
      const claim = readFacts(path)?.claim
      return typeof claim === "object" && claim.owner ? [claim.owner] : []
    })
  if (owners.length > 0) return owners.every((owner) => isProcessAlive(owner) === false)
  const made = statSync(taskDirectory, { throwIfNoEntry: false })
  return made !== undefined && Date.now() - made.mtimeMs > OWNERLESS_MS
}
