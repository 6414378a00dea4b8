import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { TaskId } from "../format.ts"

/** Tasks whose ends somebody was promised here to hear of, one file each: several programs may have the folder open. */
export interface PromisedEnds {
  add(taskId: TaskId): void
  remove(taskId: TaskId): void
  has(taskId: TaskId): boolean
  list(): readonly TaskId[]
}

export function createPromisedEnds(folder: string): PromisedEnds {
  const toPath = (taskId: TaskId): string => join(folder, taskId)
  return {
    add: (taskId) =>
      unlessRefused(() => {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        writeFileSync(toPath(taskId), "", { mode: 0o600 })
      }),
    remove: (taskId) => unlessRefused(() => rmSync(toPath(taskId), { force: true })),
    has: (taskId) => existsSync(toPath(taskId)),
    list: () => readNames(folder) as TaskId[],
  }
}

/** Nothing was promised in a folder that is not there, and nothing that can be kept in one that cannot be read. */
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
