import { spawnSync } from "node:child_process"
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { createRandom } from "../test/support/chaos/seed.ts"
import { applyMutant, findMutants, type Mutant } from "./mutation/find-mutants.ts"
import { MUTATION_USAGE, type MutationOptions, readMutationOptions } from "./mutation/mutation-options.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
const COPIED = [
  "src",
  "test",
  "scripts",
  "bench",
  "docs",
  "examples",
  "package.json",
  "tsconfig.json",
  "vitest.config.ts",
]
/** The time limit of the tests of one mutant. A mutant that makes them hang counts as noticed. */
const MOST_MS = 300_000
/** The tests near a source, by the beginning of the source's path. The first entry that fits counts. */
const TESTS: readonly (readonly [string, readonly string[]])[] = [
  ["src/task", ["src/task", "src/engine/embedded"]],
  ["src/engine", ["src/engine/rules", "src/engine/embedded"]],
  ["src/runner", ["src/runner", "test/runner", "test/field-notes", "test/spool"]],
  ["src/session", ["src/session", "test/session"]],
]
const OTHER_TESTS = ["src", "test"]

try {
  mutate(readMutationOptions(root, process.argv.slice(2), process.env["MEANWHILE_TEST_SEED"]))
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${MUTATION_USAGE}\n`)
  process.exitCode = 2
}

function mutate(options: MutationOptions): void {
  const mutants = chooseMutants(options)
  process.stdout.write(`${mutants.length} mutants, --seed ${options.seed}\n`)
  const copy = mkdtempSync(join(tmpdir(), "meanwhile-mutants-"))
  process.once("exit", () => rmSync(copy, { recursive: true, force: true }))
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130))
  for (const path of COPIED) cpSync(join(root, path), join(copy, path), { recursive: true })
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"))
  requireSound(copy, mutants)
  const survivors = mutants.filter((mutant, index) => {
    const isNoticed = isNoticedIn(copy, mutant)
    process.stdout.write(`${index + 1}/${mutants.length} ${isNoticed ? "noticed " : "SURVIVED"} ${describe(mutant)}\n`)
    return !isNoticed
  })
  process.stdout.write(`\n${survivors.length} of ${mutants.length} mutants survived\n`)
  for (const mutant of survivors) process.stdout.write(`  ${describe(mutant)}\n`)
}

function chooseMutants({ paths, seed, count }: MutationOptions): readonly Mutant[] {
  const files = paths.flatMap((path) =>
    statSync(join(root, path)).isFile() ? [path] : globSync(`${path}/**/*.ts`, { cwd: root }),
  )
  const sources = [...new Set(files)].filter((file) => !file.endsWith(".test.ts")).toSorted()
  const all = sources.flatMap((file) => findMutants(file, readFileSync(join(root, file), "utf8")))
  const random = createRandom(seed)
  return all
    .map((mutant) => ({ mutant, place: random.fraction() }))
    .toSorted((one, other) => one.place - other.place)
    .slice(0, count)
    .map(({ mutant }) => mutant)
}

/** Throws if the tests fail without a mutant: they would seem to notice every mutant. */
function requireSound(copy: string, mutants: readonly Mutant[]): void {
  for (const tests of new Set(mutants.map(({ file }) => testsOf(file)))) {
    if (!passes(copy, tests)) throw new Error(`The tests in ${tests.join(", ")} fail as they are.`)
  }
}

function isNoticedIn(copy: string, mutant: Mutant): boolean {
  const path = join(copy, mutant.file)
  const source = readFileSync(path, "utf8")
  try {
    writeFileSync(path, applyMutant(source, mutant))
    return !passes(copy, testsOf(mutant.file))
  } finally {
    writeFileSync(path, source)
  }
}

function testsOf(file: string): readonly string[] {
  return TESTS.find(([beginning]) => file.startsWith(`${beginning}/`))?.[1] ?? OTHER_TESTS
}

function passes(copy: string, tests: readonly string[]): boolean {
  const vitest = join(root, "node_modules/vitest/vitest.mjs")
  const args = [vitest, "run", "--project", "fast", "--bail", "1", "--reporter", "dot", ...tests]
  const options = { cwd: copy, stdio: "ignore", timeout: MOST_MS, killSignal: "SIGKILL" } as const
  return spawnSync(process.execPath, args, options).status === 0
}

function describe({ file, line, before, after }: Mutant): string {
  const short = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, 80)
  return `${file}:${line} ${short(before)} -> ${short(after) || "nothing"}`
}
