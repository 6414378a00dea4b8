import { stat } from "node:fs/promises"
import { userInfo } from "node:os"
import { describeFolderProblem } from "../base/folder-problem.ts"
import { systemCodeOf } from "../base/system-error.ts"

/** Why a folder cannot be written, and what a person can do about it. */
export interface Unwritable {
  readonly cause: string
  /** Null: nothing but another folder helps. */
  readonly fix: string | null
}

/** `folder` is the one that was tried; the error says what came of it. */
export async function explainUnwritable(folder: string, error: unknown): Promise<Unwritable> {
  const code = systemCodeOf(error)
  if (code === "EROFS") {
    const fix = "Mount that disk so that it can be written (the volume of a container without :ro)"
    return { cause: `${folder} lies on a disk that is mounted read-only`, fix }
  }
  if (code === "ENOSPC") return { cause: `the disk of ${folder} is full`, fix: "Make room there" }
  if (code !== "EACCES" && code !== "EPERM") return { cause: describeFolderProblem(error), fix: null }
  const stats = await stat(folder).catch(() => null)
  const { uid, username } = userInfo()
  if (!stats) return { cause: `you, ${username}, cannot look into the folder above ${folder}`, fix: null }
  const mode = (stats.mode & 0o777).toString(8).padStart(3, "0")
  if (stats.uid !== uid) {
    const owner = stats.uid === 0 ? "root" : `the user ${stats.uid}`
    const cause = `${folder} belongs to ${owner} (mode ${mode}), and you, ${username}, may not write it`
    return { cause, fix: `Have it given to you: sudo chown -R ${uid} ${quote(folder)}` }
  }
  if ((stats.mode & 0o300) === 0o300) return { cause: `the system does not let you write ${folder}`, fix: null }
  return {
    cause: `${folder} is yours, and its mode ${mode} keeps you from writing it`,
    fix: `chmod u+rwx ${quote(folder)}`,
  }
}

/** For a shell. */
function quote(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
}
