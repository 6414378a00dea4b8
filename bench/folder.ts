import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { join } from "node:path"

/**
 * A folder that is removed at the end. It lies where people's stores lie, below the working directory, and not in the
 * system's temporary folder: that one may be memory, where a durable write costs nothing.
 */
export function createFolder(name: string): Disposable & { readonly path: string } {
  const parent = join(process.cwd(), ".meanwhile", "bench")
  mkdirSync(parent, { recursive: true })
  const path = mkdtempSync(join(parent, `${name}-`))
  const remove = () => rmSync(path, { recursive: true, force: true })
  // A benchmark that is interrupted would leave gigabytes behind.
  process.on("exit", remove)
  return {
    path,
    [Symbol.dispose]() {
      remove()
      process.off("exit", remove)
    },
  }
}
