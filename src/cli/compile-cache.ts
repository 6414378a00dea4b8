import { enableCompileCache } from "node:module"
import { homedir } from "node:os"
import { join } from "node:path"
import { makeFolder } from "../config/make-folder.ts"

/** A folder of the person's own: anybody who can write into it can make the program run what they like. */
const FOLDER = join(".meanwhile", "compiled")

/**
 * Caches the compiled code of every module that is loaded from now on, for the next start. A folder that cannot be written
 * to only costs time. Node's own variables win over this folder.
 */
export function keepCompiled(): void {
  const folder = join(homedir(), FOLDER)
  if (!NODE_CACHE_VARIABLES.some((variable) => process.env[variable])) makeOwnFolder(folder)
  enableCompileCache(folder)
}

/** With one of these set, Node uses another folder, or none. */
const NODE_CACHE_VARIABLES = ["NODE_COMPILE_CACHE", "NODE_DISABLE_COMPILE_CACHE"]

/** Node itself would make it for everybody to read. */
function makeOwnFolder(path: string): void {
  try {
    makeFolder(path)
  } catch {
    return
  }
}
