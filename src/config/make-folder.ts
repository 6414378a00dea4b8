import { existsSync, mkdirSync } from "node:fs"
import { dirname } from "node:path"
import { MeanwhileError } from "../base/error.ts"
import { describeFolderProblem } from "../base/folder-problem.ts"
import { systemCodeOf } from "../base/system-error.ts"

const OWN_ONLY = 0o700

/**
 * Makes a missing folder and those above it, one at a time: where none can be made, as below `/proc`, Node's recursive
 * option tries without end.
 */
export function makeFolder(path: string): void {
  if (existsSync(path)) return
  makeFolder(dirname(path))
  try {
    mkdirSync(path, { mode: OWN_ONLY })
  } catch (error) {
    // Somebody else may have made it just now.
    if (!existsSync(path)) throw error
  }
}

/** Makes a data folder, and refuses one that can never be made. Other problems show at the first write there. */
export function makeDataFolder(path: string): void {
  try {
    makeFolder(path)
  } catch (error) {
    if (systemCodeOf(error) !== "ENOENT") return
    const message = `The data folder ${path} cannot be used: ${describeFolderProblem(error)}.`
    throw new MeanwhileError("store_unavailable", message, { path }, { cause: error })
  }
}
