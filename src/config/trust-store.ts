import { join } from "node:path"
import { z } from "zod"
import type { FolderContents } from "./folder-contents.ts"
import { readPersonFile, writePersonFile } from "./person-file.ts"

/** `empty`: there is nothing to trust. `changed`: the folder was trusted, and its files have changed since. */
export type FolderTrust = "empty" | "trusted" | "changed" | "untrusted"

export interface TrustedFolder {
  /** Of a file that is trusted by itself: the path of the file. */
  readonly directory: string
  /** The files as they were when the folder was trusted. */
  readonly files: readonly string[]
  readonly trustedAt: string
}

/** The folders, and single files, that the person has trusted, each with the contents it had then. */
export interface TrustStore {
  look(folder: FolderContents): Promise<FolderTrust>
  trust(folder: FolderContents): Promise<void>
  /** Takes the directory with all links followed; its single files go with it. False if nothing of it was trusted. */
  revoke(directory: string): Promise<boolean>
  list(): Promise<readonly TrustedFolder[]>
}

const trustSchema = z.strictObject({
  version: z.literal(1),
  folders: z.record(
    z.string(),
    z.strictObject({ sha256: z.string(), files: z.array(z.string()), trustedAt: z.iso.datetime() }),
  ),
})
type Folders = z.output<typeof trustSchema>["folders"]

export function createTrustStore({ path }: { readonly path: string }): TrustStore {
  const file = { path, schema: trustSchema, subject: "The list of trusted folders" }
  const read = async (): Promise<Folders> => (await readPersonFile(file))?.folders ?? {}
  const write = (folders: Folders): Promise<void> => writePersonFile(file, { version: 1, folders })
  return {
    async look({ directory, files, sha256 }) {
      if (files.length === 0) return "empty"
      const folders = await read()
      if (!Object.hasOwn(folders, directory)) return "untrusted"
      return folders[directory]?.sha256 === sha256 ? "trusted" : "changed"
    },
    async trust({ directory, files, sha256 }) {
      const folders = await read()
      const entry = { sha256, files: [...files], trustedAt: new Date().toISOString() }
      await write({ ...folders, [directory]: entry })
    },
    async revoke(directory) {
      const folders = await read()
      const others = Object.entries(folders).filter(([path, entry]) => !isOf(directory, path, entry.files))
      if (others.length === Object.keys(folders).length) return false
      await write(Object.fromEntries(others))
      return true
    },
    async list() {
      const folders = await read()
      return Object.entries(folders).map(([directory, { files, trustedAt }]) => ({ directory, files, trustedAt }))
    },
  }
}

/** True for the folder itself, and for a file of it that is trusted by itself. */
function isOf(directory: string, path: string, [file, ...others]: readonly string[]): boolean {
  return path === directory || (file !== undefined && others.length === 0 && path === join(directory, file))
}
