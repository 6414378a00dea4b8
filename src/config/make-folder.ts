import { existsSync, mkdirSync } from "node:fs"
import { dirname } from "node:path"

const OWN_ONLY = 0o700

/**
 * Makes an absolute folder that is missing, with those above it. One at a time: where none can be made, as below
 * `/proc`,
 * Node's recursive way tries without end.
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
