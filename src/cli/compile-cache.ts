import { enableCompileCache } from "node:module"
import { homedir } from "node:os"
import { join } from "node:path"
import { makeFolder } from "../config/make-folder.ts"

/** Only the person can write to this folder, because its files decide what the program runs. */
const FOLDER = join(".meanwhile", "compiled")

/**
 * Caches the compiled code of every module that is loaded from now on, for the next start. If the folder cannot be
 * written to, the next start is slower, and nothing else. Node's own variables win over this folder.
 */
export function keepCompiled(): void {
  const folder = join(homedir(), FOLDER)
  if (!NODE_CACHE_VARIABLES.some((variable) => process.env[variable])) makeOwnFolder(folder)
  enableCompileCache(folder)
}

/** With one of these set, Node uses another folder, or none. */
const NODE_CACHE_VARIABLES = ["NODE_COMPILE_CACHE", "NODE_DISABLE_COMPILE_CACHE"]

/** Makes the folder for its owner alone: Node itself would make it readable for everybody. */
function makeOwnFolder(path: string): void {
  try {
    makeFolder(path)
  } catch {
    return
  }
}
