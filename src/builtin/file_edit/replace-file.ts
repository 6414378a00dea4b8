import { randomUUID } from "node:crypto"
import { constants } from "node:fs"
import { access, link, open, rename, rm } from "node:fs/promises"
import { MeanwhileError } from "../../base/error.ts"
import type { Act } from "../../plugin/context.ts"
import type { AnchoredFolder } from "./anchored-folder.ts"
import type { FileState } from "./file-state.ts"
import { systemCodeOf } from "../../base/system-error.ts"

const NEW_FILE_MODE = 0o666

export interface ReplaceOptions {
  /** True if a file is expected there. If false, a file that appears meanwhile is not replaced, where hard links exist. */
  readonly exists: boolean
  /** The file gets its permissions and its owner. */
  readonly like: Pick<FileState, "mode" | "owner"> | undefined
  /** The new content takes its place in it. */
  readonly act: Act
}

/** Contract: at any moment the file has its old content or its new one, whole. */
export async function replaceFile(
  folder: AnchoredFolder,
  name: string,
  bytes: Uint8Array,
  { exists, like, act }: ReplaceOptions,
): Promise<void> {
  if (exists) await requireWritable(folder, name)
  const temporary = `.${randomUUID()}.tmp`
  try {
    await writeWhole(folder.at(temporary), bytes, like)
    await act(() => (exists ? rename(folder.at(temporary), folder.at(name)) : putInPlace(folder, temporary, name)))
  } finally {
    await rm(folder.at(temporary), { force: true })
  }
}

/** To replace a file, the system asks only for a writable folder; but a read-only file is meant to stay. */
async function requireWritable(folder: AnchoredFolder, name: string): Promise<void> {
  try {
    await access(folder.at(name), constants.W_OK)
  } catch (error) {
    const message = `"${name}" is read-only. Ask the person to make it writable, if it should change.`
    throw new MeanwhileError("permission_denied", message, {}, { cause: error })
  }
}

async function writeWhole(path: string, bytes: Uint8Array, like: ReplaceOptions["like"]): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  await using handle = await open(path, flags, like?.mode ?? NEW_FILE_MODE)
  await handle.writeFile(bytes)
  if (like) {
    // Only root can give files away; for anyone else the file becomes theirs, as with any editor.
    await handle.chown(like.owner.user, like.owner.group).catch(() => undefined)
    await handle.chmod(like.mode)
  }
  await handle.sync()
}

/** A hard link never replaces a file. On a file system without hard links, the new file is moved into place. */
async function putInPlace(folder: AnchoredFolder, temporary: string, name: string): Promise<void> {
  try {
    await link(folder.at(temporary), folder.at(name))
  } catch (error) {
    const code = systemCodeOf(error)
    if (code === "EEXIST") {
      const message = `"${name}" was made by something else just now. Read it, then use updateFile.`
      throw new MeanwhileError("wrong_state", message, {}, { cause: error })
    }
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "EOPNOTSUPP") throw error
    await rename(folder.at(temporary), folder.at(name))
  }
}
