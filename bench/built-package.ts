import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, symlinkSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import manifest from "../package.json" with { type: "json" }

const root = fileURLToPath(new URL("..", import.meta.url))

export interface BuiltPackage {
  /** What `import "meanwhile"` loads. */
  readonly library: string
  /** What `meanwhile` runs. */
  readonly program: string
}

/** The package as it is published, built anew and installed in a folder. */
export function installPackage(folder: string): BuiltPackage {
  const modules = join(folder, "node_modules")
  const installed = join(modules, manifest.name)
  mkdirSync(installed, { recursive: true })
  execFileSync(process.execPath, [join(root, "scripts/build.ts"), join(installed, "dist")], { stdio: "pipe" })
  cpSync(join(root, "package.json"), join(installed, "package.json"))
  for (const name of Object.keys(manifest.dependencies)) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, "node_modules", name), join(modules, name))
  }
  return {
    library: join(installed, manifest.exports["."].default),
    program: join(installed, manifest.bin.meanwhile),
  }
}
