import { constants } from "node:fs"
import { mkdir, open, readlink, realpath } from "node:fs/promises"
import { join } from "node:path"
import { MeanwhileError } from "../../base/error.ts"
import { systemCodeOf, unlessMissing } from "../../base/system-error.ts"
import type { Place } from "./working-root.ts"

/** A folder held open, so that work reaches this very folder even if its path leads elsewhere by then. */
export interface AnchoredFolder extends AsyncDisposable {
  /** The path of a file in the folder, valid for as long as the folder is open. */
  at(name: string): string
}

/**
 * Where the system shows open files under `/proc`, the folder is used by its entry there, and a link put into its path
 * later changes nothing. Elsewhere the path is checked once more, which leaves a moment between the check and the use.
 */
export async function openFolder(path: string): Promise<AnchoredFolder> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
  const handle = await open(path, flags).catch(toRefusal)
  const close = (): Promise<void> => handle.close()
  try {
    const anchor = `/proc/self/fd/${handle.fd}`
    const opened = await unlessMissing(readlink(anchor))
    if ((opened ?? (await realpath(path))) !== path) throw toMoved()
    const base = opened === undefined ? path : anchor
    return { at: (name) => join(base, name), [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Opens the folder of a place. Missing folders are made, one inside the other. */
export async function openFolderOf({ folder, missing }: Place): Promise<AnchoredFolder> {
  let path = folder
  let current = await openFolder(path)
  for (const name of missing) {
    await using parent = current
    await mkdir(parent.at(name)).catch(unlessExists)
    path = join(path, name)
    current = await openFolder(path)
  }
  return current
}

function unlessExists(error: unknown): void {
  if (systemCodeOf(error) !== "EEXIST") throw error
}

function toRefusal(error: unknown): never {
  const code = systemCodeOf(error)
  throw code === "ELOOP" || code === "ENOTDIR" || code === "ENOENT" ? toMoved() : error
}

function toMoved(): MeanwhileError {
  return new MeanwhileError("permission_denied", "The folder was moved or replaced while it was opened. Try again.")
}
