import { readlinkSync, renameSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { decodeIdentity, encodeIdentity, type ProcessIdentity } from "../process/identity.ts"

/**
 * Which Meanwhile process a task's folder belongs to, as the target of a link that points nowhere: made in one system
 * call, complete or not there at all.
 */
export function writeOwner(taskDirectory: string, owner: ProcessIdentity): void {
  const path = join(taskDirectory, "owner")
  const target = encodeIdentity(owner)
  try {
    symlinkSync(target, path)
  } catch {
    const next = join(taskDirectory, `owner-${owner.pid}`)
    symlinkSync(target, next)
    renameSync(next, path)
  }
}

/** Undefined when it was never written: the process died between two system calls, or is between them. */
export function readOwner(taskDirectory: string): ProcessIdentity | undefined {
  try {
    return decodeIdentity(readlinkSync(join(taskDirectory, "owner")))
  } catch {
    return undefined
  }
}
