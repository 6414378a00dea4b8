import { statSync } from "node:fs"
import { join } from "node:path"
import type { TaskId } from "../../task/id.ts"
import { isProcessAlive } from "../process/identity.ts"
import { listNames } from "./found-processes.ts"
import { readOwner } from "./owner.ts"

/** A folder gets its owner within microseconds: one that has none after this never will. */
const OWNERLESS_MS = 60_000

/** Folders whose owner is known to be dead. One that cannot be asked about counts as alive. */
export function findOrphans(spoolDirectory: string): { readonly taskId: TaskId }[] {
  return listNames(spoolDirectory)
    .filter((name) => isOrphan(join(spoolDirectory, name)))
    .map((name) => ({ taskId: name as TaskId }))
}

function isOrphan(taskDirectory: string): boolean {
  const owner = readOwner(taskDirectory)
  if (owner) return isProcessAlive(owner) === false
  const made = statSync(taskDirectory, { throwIfNoEntry: false })
  return made !== undefined && Date.now() - made.mtimeMs > OWNERLESS_MS
}
