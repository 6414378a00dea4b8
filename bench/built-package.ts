import { execFileSync, type StdioOptions } from "node:child_process"
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
  for (const name of [...Object.keys(manifest.dependencies), "zod"]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(join(root, "node_modules", name), join(modules, name))
  }
  return {
    library: join(installed, manifest.exports["."].default),
    program: join(installed, manifest.bin.meanwhile),
  }
}

/** The archive that would be published, built anew in a folder. */
export function packPackage(folder: string): string {
  const staged = join(folder, "staged")
  mkdirSync(staged, { recursive: true })
  execFileSync(process.execPath, [join(root, "scripts/build.ts"), join(staged, "dist")], { stdio: "pipe" })
  for (const name of ["package.json", ...manifest.files.filter((name) => name !== "dist")]) {
    cpSync(join(root, name), join(staged, name), { recursive: true })
  }
  const options = ["pack", "--ignore-scripts", "--json", "--pack-destination", folder]
  const packed = JSON.parse(execFileSync("npm", options, { cwd: staged, encoding: "utf8", stdio: PIPED })) as Packed
  return join(folder, packed[0].filename)
}

type Packed = readonly [{ readonly filename: string }]
/** Warnings of npm are not part of the answer. */
const PIPED: StdioOptions = ["ignore", "pipe", "ignore"]
