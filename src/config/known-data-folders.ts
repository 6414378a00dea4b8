import { createHash } from "node:crypto"
import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { z } from "zod"
import { systemCodeOf } from "../base/system-error.ts"
import { type PersonFile, readPersonFile, writePersonFile } from "./person-file.ts"

/** The facts that tell one data folder from another, and from a copy of itself. */
export interface DataFolderIdentity {
  /** With all links followed. */
  readonly path: string
  /** Kept in the folder. Null if nothing can be kept there. */
  readonly id: string | null
  /** The inode and the time it was made: a file that takes the place of another may get the same inode. */
  readonly inode: string
  /** The same for the store. Null: there is no store in the folder. */
  readonly storeInode: string | null
  /** The same for the store's log, which becomes part of the store. Null: there is none. */
  readonly logInode: string | null
}

/** `changed`: the folder was known, and it or its store is another one now. `copied`: its id is that of another folder. */
export type DataFolderStanding = "known" | "changed" | "copied" | "unknown"

export interface KnownDataFolder {
  readonly path: string
  readonly knownSince: string
}

/** The data folders that programs of this person made, or that the person agreed to. */
export interface KnownDataFolders {
  look(folder: DataFolderIdentity): Promise<DataFolderStanding>
  remember(folder: DataFolderIdentity): Promise<void>
  /** Takes the path with all links followed. False if the folder was not known. */
  forget(path: string): Promise<boolean>
  list(): Promise<readonly KnownDataFolder[]>
}

const knownSchema = z.strictObject({
  version: z.literal(1),
  path: z.string(),
  id: z.string().nullable(),
  inode: z.string(),
  storeInode: z.string().nullable(),
  logInode: z.string().nullable(),
  knownSince: z.iso.datetime(),
})
type Known = z.output<typeof knownSchema>

/** Keeps a file for each folder: programs that start at the same moment overwrite nothing of one another. */
export function createKnownDataFolders({ directory }: { readonly directory: string }): KnownDataFolders {
  const toFile = (name: string): PersonFile<typeof knownSchema> => ({
    path: join(directory, name),
    schema: knownSchema,
    subject: "The note about a data folder",
  })
  const fileOf = (path: string) => toFile(`${createHash("sha256").update(path).digest("hex").slice(0, 32)}.json`)

  async function readAll(): Promise<readonly Known[]> {
    const names = await readdir(directory).catch((error: unknown) => {
      if (systemCodeOf(error) === "ENOENT") return []
      throw error
    })
    const notes = names.filter((name) => name.endsWith(".json")).map((name) => readPersonFile(toFile(name)))
    return (await Promise.all(notes)).filter((known) => known !== undefined)
  }

  return {
    async look(folder) {
      const known = await readPersonFile(fileOf(folder.path))
      if (known?.path === folder.path) return isSame(known, folder) ? "known" : "changed"
      const isCopy = folder.id !== null && (await readAll()).some(({ id }) => id === folder.id)
      return isCopy ? "copied" : "unknown"
    },
    async remember(folder) {
      const { path, id, inode, storeInode, logInode } = folder
      const known = await readPersonFile(fileOf(path))
      const isNoted = known && isSame(known, folder) && known.storeInode === storeInode && known.logInode === logInode
      if (isNoted) return
      const knownSince = new Date().toISOString()
      await writePersonFile(fileOf(path), { version: 1, path, id, inode, storeInode, logInode, knownSince })
    },
    async forget(path) {
      const { path: note } = fileOf(path)
      const isKnown = (await readPersonFile(fileOf(path))) !== undefined
      if (isKnown) await rm(note, { force: true })
      return isKnown
    },
    async list() {
      return (await readAll()).map(({ path, knownSince }) => ({ path, knownSince }))
    },
  }
}

/**
 * A program notes its new folder before it makes the store: until the program has noted that too, any store counts. It
 * notes the store's log each time that it has opened the store, and the last program that closes the store removes the
 * log: a log that is there and was not noted is somebody else's.
 */
function isSame(known: Known, { id, inode, storeInode, logInode }: DataFolderIdentity): boolean {
  if (known.id !== id || known.inode !== inode) return false
  if (known.storeInode === null) return true
  return known.storeInode === storeInode && (logInode === null || logInode === known.logInode)
}
