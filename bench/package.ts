import { execFile, execFileSync } from "node:child_process"
import { lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import manifest from "../package.json" with { type: "json" }
import type { Benchmark } from "./benchmark.ts"
import { packPackage } from "./built-package.ts"
import { createFolder } from "./folder.ts"
import { compare } from "./statistics.ts"

const run = promisify(execFile)
const ROUNDS = 15
const MEBIBYTE = 2 ** 20
/** As `stat` counts them. */
const BLOCK_BYTES = 512

const AI = `ai@${manifest.devDependencies.ai}`

export const packageSize: Benchmark = {
  name: "package",
  summary: "what `npm install meanwhile zod` puts on the disk, and how long an import takes, beside the AI SDK",
  async run(report) {
    using folder = createFolder("package")
    report.progressed("building the package")
    const archive = packPackage(folder.path)
    report.progressed("installing it, and the AI SDK")
    const ours = install(join(folder.path, "ours"), archive)
    const theirs = install(join(folder.path, "theirs"), AI)
    const name = `npm install ${AI} zod`
    report.measured({
      metric: "install_mb",
      unit: "MiB",
      ours: ours.bytes / MEBIBYTE,
      reference: { name, value: theirs.bytes / MEBIBYTE },
      bar: { of: "ours", atMost: 50 },
    })
    report.measured({
      metric: "packages",
      unit: "packages",
      ours: ours.packages,
      reference: { name, value: theirs.packages },
      bar: { of: "ours", atMost: 70 },
    })
    report.progressed("import_ms")
    const imported = await compare(
      ROUNDS,
      () => measureImport(ours.path, "meanwhile"),
      () => measureImport(theirs.path, "ai"),
    )
    const reference = { name: "import ai", value: imported.reference, ratio: imported.ratio }
    report.measured({
      metric: "import_ms",
      unit: "ms",
      ours: imported.ours,
      reference,
      bar: { of: "ratio", atMost: 0.5 },
    })
  },
}

/** Installs a package with zod, as npm does it for anybody. */
function install(path: string, wanted: string) {
  mkdirSync(path)
  writeFileSync(join(path, "package.json"), '{ "type": "module" }\n')
  const quiet = ["--no-audit", "--no-fund", "--prefer-offline"]
  execFileSync("npm", ["install", ...quiet, wanted, `zod@${manifest.devDependencies.zod}`], {
    cwd: path,
    stdio: "pipe",
  })
  const listed = execFileSync("npm", ["ls", "--all", "--parseable"], { cwd: path, encoding: "utf8", stdio: "pipe" })
  const [, ...packages] = listed.trim().split("\n")
  return { path, packages: packages.length, bytes: sizeOf(join(path, "node_modules")) }
}

/** What the file system needs for a folder and everything in it. */
function sizeOf(folder: string): number {
  const within = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name))
  return [folder, ...within].reduce((sum, path) => sum + lstatSync(path).blocks * BLOCK_BYTES, 0)
}

/** In a process of its own, without the time that Node itself needs to start. */
async function measureImport(cwd: string, name: string): Promise<number> {
  const program = `const begun = performance.now(); await import(${JSON.stringify(name)}); console.log(performance.now() - begun)`
  const { stdout } = await run(process.execPath, ["--input-type=module", "--eval", program], { cwd })
  return Number(stdout)
}
