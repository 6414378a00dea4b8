import { enableCompileCache } from "node:module"
import { homedir } from "node:os"
import { join } from "node:path"
import { makeFolder } from "../config/make-folder.ts"

/** A folder of the person's own: anybody who can write into it can make the program run what they like. */
const FOLDER = join(".meanwhile", "compiled")

/**
 * From now on, what is loaded need not be compiled again at the next start. A folder that cannot be written to changes
 * nothing but the time it takes; NODE_COMPILE_CACHE and NODE_DISABLE_COMPILE_CACHE are heeded.
 */
export function keepCompiled(): void {
  const folder = join(homedir(), FOLDER)
  if (!OTHERWISE.some((variable) => process.env[variable])) makeOwnFolder(folder)
  enableCompileCache(folder)
}

const OTHERWISE = ["NODE_COMPILE_CACHE", "NODE_DISABLE_COMPILE_CACHE"]

/** Node itself would make it for everybody to read. */
function makeOwnFolder(path: string): void {
  try {
    makeFolder(path)
  } catch {
    return
  }
}
