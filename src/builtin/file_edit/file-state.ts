import { createHash } from "node:crypto"
import { constants } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { MeanwhileError } from "../../base/error.ts"
import { type AnchoredFolder, openFolder } from "./anchored-folder.ts"
import { systemCodeOf } from "../../base/system-error.ts"
import type { Place } from "./working-root.ts"

/** A regular file as it was at one moment. */
export interface FileState {
  readonly bytes: Buffer
  readonly hash: string
  /** Permission bits only. */
  readonly mode: number
  readonly owner: { readonly user: number; readonly group: number }
}

/** Larger files are work for a command: they would not fit into a conversation. */
export const LARGEST_FILE_BYTES = 8 * 1024 * 1024

/** Undefined when there is no such file. */
export async function readState(place: Place): Promise<FileState | undefined> {
  if (place.missing.length > 0) return undefined
  await using folder = await openFolder(place.folder)
  return await readStateIn(folder, place)
}

/** Refuses a link and anything else but a regular file: reading a device or a pipe might never end. */
export async function readStateIn(folder: AnchoredFolder, place: Place): Promise<FileState | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
  try {
    await using handle = await open(folder.at(place.name), flags)
    return await readHandle(handle, place)
  } catch (error) {
    switch (systemCodeOf(error)) {
      case "ENOENT":
        return undefined
      case "ELOOP":
      case "ENXIO":
        throw toNoFile(place)
      case "EACCES":
      case "EPERM":
        throw new MeanwhileError("permission_denied", `"${place.path}" cannot be read: the system does not allow it.`)
      default:
        throw error
    }
  }
}

export const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

async function readHandle(handle: FileHandle, place: Place): Promise<FileState> {
  const { mode, size, uid, gid } = await handle.stat()
  const isFile = (mode & constants.S_IFMT) === constants.S_IFREG
  if (!isFile) throw toNoFile(place)
  if (size > LARGEST_FILE_BYTES) {
    const message =
      `"${place.path}" has ${size} bytes, and files over ${LARGEST_FILE_BYTES} are not opened here. ` +
      "Look at parts of it with a command, such as grep, head or sed."
    throw new MeanwhileError("invalid_input", message, { path: place.path, bytes: size })
  }
  const bytes = await handle.readFile()
  return { bytes, hash: hashOf(bytes), mode: mode & 0o777, owner: { user: uid, group: gid } }
}

function toNoFile({ path }: Place): MeanwhileError {
  const message = `"${path}" is not a regular file (a folder, a link or a device). Name a file.`
  return new MeanwhileError("invalid_input", message, { path })
}
