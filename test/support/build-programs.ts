import { createHash } from "node:crypto"
import { globSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { basename, join } from "node:path"
import { fileURLToPath } from "node:url"
import { bundle } from "../../scripts/bundle.ts"
import { PROGRAMS_VARIABLE } from "./built-program.ts"

const ROOT = fileURLToPath(new URL("../..", import.meta.url))
const BUILDS = join(ROOT, "node_modules/.cache/programs")
/** `zod` is bundled here, and not in the package, because hundreds of starts would each load its hundred files. */
const BUNDLED = ["@opentelemetry/api", "commander", "zod"]
/** Longer than a run of the tests: no run uses a build that was last touched before that. */
const KEPT_MS = 6 * 3_600_000

/**
 * Runs once, before slow tests: builds the programs that they start, unless they were built from the same sources before.
 * A built program starts in half the time.
 */
export async function setup(): Promise<void> {
  const folder = join(BUILDS, hashSources())
  if (!touch(folder)) await build(folder)
  removeUnused()
  process.env[PROGRAMS_VARIABLE] = folder
}

function hashSources(): string {
  const hash = createHash("sha256")
  const paths = globSync(["src/**/*.ts", "test/support/**/*.ts", "scripts/*.ts", "package-lock.json"], { cwd: ROOT })
  for (const path of paths.toSorted()) hash.update(path).update(readFileSync(join(ROOT, path)))
  return hash.digest("hex").slice(0, 16)
}

/** Two runs may build at the same time: a build appears whole or not at all. */
async function build(folder: string): Promise<void> {
  const unfinished = `${folder}.${process.pid}`
  const paths = globSync("test/support/programs/*.ts", { cwd: ROOT })
  const programs = Object.fromEntries(paths.map((path): [string, string] => [basename(path, ".ts"), path]))
  await bundle({ "cli/main": "src/cli/main.ts", ...programs }, unfinished, { dependencies: BUNDLED })
  // Without the type, Node compiles every file twice to find out what kind of module it is.
  writeFileSync(join(unfinished, "package.json"), '{ "type": "module" }')
  try {
    renameSync(unfinished, folder)
  } catch (error) {
    rmSync(unfinished, { recursive: true })
    if (!touch(folder)) throw error
  }
}

function touch(folder: string): boolean {
  try {
    utimesSync(folder, new Date(), new Date())
    return true
  } catch {
    return false
  }
}

function removeUnused(): void {
  for (const name of readdirSync(BUILDS)) {
    const folder = join(BUILDS, name)
    const { mtimeMs } = statSync(folder, { throwIfNoEntry: false }) ?? {}
    if (mtimeMs !== undefined && Date.now() - mtimeMs > KEPT_MS) rmSync(folder, { recursive: true, force: true })
  }
}
