import { accessSync, constants, statSync } from "node:fs"
import { isAbsolute, join, resolve } from "node:path"

/** Folders in which systems and their package managers install programs, and no project does. */
export const STANDARD_FOLDERS: readonly string[] = [
  "/usr/local/sbin",
  "/usr/local/bin",
  "/usr/sbin",
  "/usr/bin",
  "/sbin",
  "/bin",
  "/opt/homebrew/bin",
  "/opt/local/bin",
  "/run/current-system/sw/bin",
]

/**
 * The path of the program that a shell would start by this name. Undefined if a shell finds none, or finds the first one
 * anywhere but in a standard folder: a project can put an `ls` of its own into `node_modules/.bin`.
 */
export function findInstalled(program: string, searchPath: string | undefined): string | undefined {
  if (program.includes("/")) return undefined
  for (const folder of (searchPath ?? STANDARD_FOLDERS.join(":")).split(":")) {
    if (!isAbsolute(folder)) return undefined
    const path = join(folder, program)
    if (isProgram(path)) return STANDARD_FOLDERS.includes(resolve(folder)) ? path : undefined
  }
  return undefined
}

/** The path of the program in a standard folder: the first that the search path has, else any. */
export function findStandard(program: string, searchPath = ""): string | undefined {
  const searched = searchPath.split(":").filter((folder) => STANDARD_FOLDERS.includes(folder))
  return [...searched, ...STANDARD_FOLDERS].map((folder) => join(folder, program)).find(isProgram)
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
