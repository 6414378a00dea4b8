import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

export const DATA_DIRECTORY_NAME = ".meanwhile"

/** Keeps everything in the folder out of the repository it lies in. */
const IGNORE_ALL = "*\n"

export function createDataDirectory(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 })
  const ignoreFile = join(path, ".gitignore")
  if (!existsSync(ignoreFile)) writeFileSync(ignoreFile, IGNORE_ALL)
}
