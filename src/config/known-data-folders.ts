import { createHash } from "node:crypto"
import { readdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
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
  /** True if the log, or a file that stands in for it, may hold something. */
  readonly hasLog: boolean
}

/** `changed`: the folder was known, and it or its store is another one now. `copied`: its id is that of another folder. */
export type DataFolderStanding = "known" | "changed" | "copied" | "unknown"

export interface KnownDataFolder {
  readonly path: string
  readonly knownSince: string
}

/** The data folders that programs of this person made, or that the person agreed to. */
export interface KnownDataFolders {
  /** Reads the id that lies in the store only if the folder looks known otherwise: nothing of another store is opened. */
  look(folder: DataFolderIdentity, findStoreId: () => Promise<string | null>): Promise<DataFolderStanding>
  /** Null as the store's id: it is not known yet. */
  remember(folder: DataFolderIdentity, storeId: string | null): Promise<void>
  /**
   * Has the folder count as changed until it is remembered again. Whoever opens the store makes its log a part of it, and
   * nobody could tell afterwards that somebody else had put the log there.
   */
  distrust(folder: DataFolderIdentity): Promise<void>
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
  storeId: z.string().nullable().default(null),
  wasReplaced: z.boolean().default(false),
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
    async look(folder, findStoreId) {
      const known = await readPersonFile(fileOf(folder.path))
      if (known?.path === folder.path) {
        if (known.wasReplaced || !isSameFolder(known, folder)) return "changed"
        if (!holdsWork(folder)) return "known"
        return known.storeId === null || known.storeId === (await findStoreId()) ? "known" : "changed"
      }
      const isCopy = folder.id !== null && (await readAll()).some(({ id }) => id === folder.id)
      return isCopy ? "copied" : "unknown"
    },
    async remember({ path, id, inode, storeInode, logInode }, storeId) {
      const facts = { path, id, inode, storeInode, logInode, storeId, wasReplaced: false }
      const known = await readPersonFile(fileOf(path))
      if (known && isDeepStrictEqual(known, { ...known, ...facts })) return
      await writePersonFile(fileOf(path), { version: 1, ...facts, knownSince: new Date().toISOString() })
    },
    async distrust({ path }) {
      const known = await readPersonFile(fileOf(path))
      if (known && !known.wasReplaced) await writePersonFile(fileOf(path), { ...known, wasReplaced: true })
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
 * notes the store's log before it writes into it, and a log stays while a program has the store open: one that holds
 * something and was not noted is somebody else's.
 */
export function isSameFolder(
  known: Omit<DataFolderIdentity, "path" | "hasLog">,
  { id, inode, storeInode, logInode, hasLog }: DataFolderIdentity,
): boolean {
  if (known.id !== id || known.inode !== inode) return false
  if (known.storeInode === null || !holdsWork({ storeInode, hasLog })) return true
  return known.storeInode === storeInode && (!hasLog || logInode === known.logInode)
}

/** A folder whose store was taken away holds nothing that could run: a person may have deleted it to begin anew. */
const holdsWork = ({ storeInode, hasLog }: Pick<DataFolderIdentity, "storeInode" | "hasLog">): boolean =>
  storeInode !== null || hasLog
