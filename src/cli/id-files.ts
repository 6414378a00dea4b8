import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"

/** Ids that are remembered in a folder, one file each: several programs may have it open. As well as it can be. */
export interface IdFiles<Id extends string> {
  add(id: Id): void
  remove(id: Id): void
  has(id: Id): boolean
  list(): readonly Id[]
}

export function createIdFiles<Id extends string>(folder: string): IdFiles<Id> {
  const toPath = (id: Id): string => join(folder, id)
  return {
    add: (id) =>
      unlessRefused(() => {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        writeFileSync(toPath(id), "", { mode: 0o600 })
      }),
    remove: (id) => unlessRefused(() => rmSync(toPath(id), { force: true })),
    has: (id) => existsSync(toPath(id)),
    list: () => readNames(folder) as Id[],
  }
}

/** None in a folder that is not there, and none that can be known in one that cannot be read. */
function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** A disk that is full says so where it matters. */
function unlessRefused(write: () => void): void {
  try {
    write()
  } catch {}
}
