import { readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { decodeIdentity, isProcessAlive, type ProcessIdentity } from "../process/identity.ts"
import { readFacts } from "../process/process-file.ts"
import { listNames, OWNER_FILE } from "./run-paths.ts"

/** From this age on, a folder without an owner is an orphan: a living process names itself at once, or has a task. */
const OWNERLESS_MS = 60_000

export function listRuns(taskDirectory: string): readonly number[] {
  return listNames(taskDirectory).map(Number).filter(Number.isSafeInteger)
}

/**
 * True if no living Meanwhile process made the folder. A process counts as alive if that cannot be found out, and so does
 * the unknown maker of a new folder.
 */
export function isOrphan(taskDirectory: string): boolean {
  const owners = listNames(taskDirectory).flatMap((run) => findOwners(join(taskDirectory, run)))
  if (owners.length > 0) return owners.every((owner) => isProcessAlive(owner) === false)
  const made = statSync(taskDirectory, { throwIfNoEntry: false })
  return made !== undefined && Date.now() - made.mtimeMs > OWNERLESS_MS
}

function findOwners(directory: string): readonly ProcessIdentity[] {
  return listNames(directory).flatMap((name) => {
    if (name === OWNER_FILE) return readOwner(join(directory, name)) ?? []
    const claim = name.startsWith("process-") ? readFacts(join(directory, name))?.claim : undefined
    return typeof claim === "object" ? (claim.owner ?? []) : []
  })
}

function readOwner(path: string): ProcessIdentity | undefined {
  try {
    return decodeIdentity(readFileSync(path, "utf8"))
  } catch {
    return undefined
  }
}
