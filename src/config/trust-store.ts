import { chmod, readFile, rename, rm, stat, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { z } from "zod"
import { isMeanwhileError, MeanwhileError, toErrorMessage } from "../base/error.ts"
import { systemCodeOf } from "../base/system-error.ts"
import type { FolderContents } from "./folder-contents.ts"
import { makeFolder } from "./make-folder.ts"

/** `empty`: there is nothing to trust. `changed`: the folder was trusted, and its files have changed since. */
export type FolderTrust = "empty" | "trusted" | "changed" | "untrusted"

export interface TrustedFolder {
  readonly directory: string
  /** The files as they were when the folder was trusted. */
  readonly files: readonly string[]
  readonly trustedAt: string
}

/** The folders that the person has trusted, each with the contents it had then. */
export interface TrustStore {
  look(folder: FolderContents): Promise<FolderTrust>
  trust(folder: FolderContents): Promise<void>
  /** Takes the directory with all links followed. False if it was not trusted. */
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
type Trust = z.output<typeof trustSchema>

const NOTHING: Trust = { version: 1, folders: {} }
const WRITABLE_BY_OTHERS = 0o022

export function createTrustStore({ path }: { readonly path: string }): TrustStore {
  return {
    async look({ directory, files, sha256 }) {
      if (files.length === 0) return "empty"
      const { folders } = await read(path)
      if (!Object.hasOwn(folders, directory)) return "untrusted"
      return folders[directory]?.sha256 === sha256 ? "trusted" : "changed"
    },
    async trust({ directory, files, sha256 }) {
      const { folders } = await read(path)
      const entry = { sha256, files: [...files], trustedAt: new Date().toISOString() }
      await write(path, { version: 1, folders: { ...folders, [directory]: entry } })
    },
    async revoke(directory) {
      const { folders } = await read(path)
      if (!Object.hasOwn(folders, directory)) return false
      const { [directory]: _, ...others } = folders
      await write(path, { version: 1, folders: others })
      return true
    },
    async list() {
      const { folders } = await read(path)
      return Object.entries(folders).map(([directory, { files, trustedAt }]) => ({ directory, files, trustedAt }))
    },
  }
}

/** A list that others could have written, or that cannot be understood, is refused and left as it is. */
async function read(path: string): Promise<Trust> {
  try {
    const { mode } = await stat(path)
    if ((mode & WRITABLE_BY_OTHERS) !== 0) {
      const message = `${path} can be written by others, so nothing in it is believed. Look at it, then run: chmod 600 ${path}`
      throw new MeanwhileError("permission_denied", message)
    }
    return trustSchema.parse(JSON.parse(await readFile(path, "utf8")))
  } catch (error) {
    if (isMeanwhileError(error)) throw error
    if (systemCodeOf(error) === "ENOENT") return NOTHING
    const reason = error instanceof z.ZodError ? z.prettifyError(error) : toErrorMessage(error)
    const message = `The list of trusted folders, ${path}, cannot be read: ${reason}. Repair or remove it.`
    throw new MeanwhileError("invalid_input", message, {}, { cause: error })
  }
}

/** Writes the whole file or nothing: a draft beside it is renamed. */
async function write(path: string, trust: Trust): Promise<void> {
  try {
    await replaceFile(path, trust)
  } catch (error) {
    const message = `The list of trusted folders, ${path}, cannot be written: ${toErrorMessage(error)}. Is HOME a folder of yours?`
    throw new MeanwhileError("permission_denied", message, {}, { cause: error })
  }
}

async function replaceFile(path: string, trust: Trust): Promise<void> {
  makeFolder(dirname(path))
  const draft = `${path}.${process.pid}.${crypto.randomUUID()}`
  try {
    await writeFile(draft, `${JSON.stringify(trust, null, 2)}\n`, { mode: 0o600, flag: "wx" })
    await chmod(draft, 0o600)
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}
