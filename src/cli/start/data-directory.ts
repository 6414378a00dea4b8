import { existsSync, statSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { describeFolderProblem } from "../../base/folder-problem.ts"
import { makeFolder } from "../../config/make-folder.ts"

export const DATA_DIRECTORY_NAME = ".meanwhile"

/** Keeps everything in the folder out of the repository around it. */
const IGNORE_ALL = "*\n"

/** The folder if it exists: a command that keeps nothing makes none. */
export function findDataDirectory(name = DATA_DIRECTORY_NAME): string | undefined {
  return name === "" || existsSync(resolve(name)) ? openDataDirectory(name) : undefined
}

/** Makes the folder if it is missing, and returns its path. A folder that was there keeps its files as they are. */
export function openDataDirectory(name = DATA_DIRECTORY_NAME): string {
  if (name === "") throw new Error("The data folder has no name. Give one: --data-dir FOLDER")
  const path = resolve(name)
  try {
    const isThere = existsSync(path)
    makeFolder(path)
    if (!statSync(path).isDirectory()) throw new Error("there is a file of that name")
    if (!isThere) writeFileSync(join(path, ".gitignore"), IGNORE_ALL)
    return path
  } catch (error) {
    const reason = describeFolderProblem(error)
    throw new Error(`The data folder ${path} cannot be used: ${reason}. Name another: --data-dir FOLDER`, {
      cause: error,
    })
  }
}
