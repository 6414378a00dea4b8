import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { createHash } from "node:crypto"
import { join } from "node:path"

/**
 * Ids that are kept in a folder, one file each, so that several programs can use it at once. An id that cannot be written
 * is not kept.
 */
export interface IdFiles<Id extends string> {
  add(id: Id): void
  remove(id: Id): void
  has(id: Id): boolean
  list(): readonly Id[]
}

export function createIdFiles<Id extends string>(folder: string): IdFiles<Id> {
  const toPath = (id: Id): string => join(folder, toFileName(id))
  return {
    add: (id) =>
      unlessRefused(() => {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        writeFileSync(toPath(id), "", { mode: 0o600 })
      }),
    remove: (id) => unlessRefused(() => rmSync(toPath(id), { force: true })),
    has: (id) => existsSync(toPath(id)),
    list() {
      try {
        return readdirSync(folder).flatMap(toId) as Id[]
      } catch {
        // The folder does not exist, or cannot be read.
        return []
      }
    },
  }
}

/** Encodes an id, so that none is a path: callers may pass any text. */
function toFileName(id: string): string {
  return encodeURIComponent(id.toWellFormed()).replaceAll(".", "%2E")
}

/** Nothing for a file that somebody else has put there. */
function toId(name: string): string | [] {
  try {
    return decodeURIComponent(name)
  } catch {
    return []
  }
}

/** The folder in which a data folder remembers ids of one store: several stores may be used with it. */
export function toStoreFolder(dataDirectory: string, what: string, storePlace: string): string {
  return join(dataDirectory, what, createHash("sha256").update(storePlace).digest("hex").slice(0, 16))
}

/** A full disk fails elsewhere, where somebody can act on it. */
function unlessRefused(write: () => void): void {
  try {
    write()
  } catch {}
}
