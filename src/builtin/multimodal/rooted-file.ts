import { constants, realpathSync } from "node:fs"
import { type FileHandle, open, realpath } from "node:fs/promises"
import { isAbsolute, relative, resolve, sep } from "node:path"
import { MeanwhileError } from "../../base/error.ts"
import { systemCodeOf } from "../../base/system-error.ts"

export interface FileHead {
  /** From the root and without symbolic links, for people and models. */
  readonly name: string
  /** The size of the whole file. */
  readonly bytes: number
  readonly head: Uint8Array
}

/**
 * Reads at most so many of a file's first bytes. Contract: the file is inside the root after all symbolic links are
 * followed. Undefined if there is no file, and for anything but a regular file, such as a folder or a device.
 */
export async function readHead(root: string, path: string, mostBytes: number): Promise<FileHead | undefined> {
  if (path.includes("\0")) return undefined
  const realRoot = await realpath(root)
  const realPath = await realpath(resolve(root, path)).catch(() => undefined)
  if (realPath === undefined || !isInside(realRoot, realPath)) return undefined
  await using handle = await openForReading(realPath)
  const status = await handle?.stat()
  if (!handle || !status?.isFile()) return undefined
  const buffer = Buffer.alloc(Math.min(mostBytes, status.size))
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0)
  return { name: relative(realRoot, realPath), bytes: status.size, head: buffer.subarray(0, bytesRead) }
}

/** True if an absolute path lies in the root, by the root's own path or its real path. The file need not exist. */
export function isRooted(root: string, path: string): boolean {
  if (isInside(root, path)) return true
  try {
    return isInside(realpathSync(root), path)
  } catch {
    return false
  }
}

function isInside(folder: string, path: string): boolean {
  const name = relative(folder, path)
  return name !== ".." && !name.startsWith(`..${sep}`) && !isAbsolute(name)
}

async function openForReading(path: string): Promise<FileHandle | undefined> {
  try {
    // Opening a pipe that nobody writes to would wait; a link that was put there since may lead anywhere.
    return await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    if (systemCodeOf(error) === "EACCES") {
      throw new MeanwhileError("invalid_input", `The file ${path} may not be read. Change its permissions.`)
    }
    return undefined
  }
}
