import { spawnSync } from "node:child_process"
import {
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { createRandom } from "../test/support/chaos/seed.ts"
import { readFailedTests } from "./mutation/failed-tests.ts"
import { applyMutant, findMutants, type Mutant } from "./mutation/find-mutants.ts"
import { MUTATION_USAGE, type MutationOptions, readMutationOptions } from "./mutation/mutation-options.ts"

const root = fileURLToPath(new URL("..", import.meta.url))
/** Everything else is copied: some tests read documents and settings. */
const NOT_COPIED = new Set(["node_modules", ".git", "dist", "coverage", ".meanwhile"])
/** The time limit of the tests of one mutant. A mutant that makes them hang counts as noticed. */
const MOST_MS = 300_000
/** The tests near a source, by the beginning of the source's path. The first entry that fits counts. */
const TESTS: readonly (readonly [string, readonly string[]])[] = [
  ["src/task", ["src/task", "src/engine/embedded"]],
  ["src/engine", ["src/engine/rules", "src/engine/embedded"]],
  [
    "src/runner",
    ["src/runner", "test/runner", "test/field-notes", "test/spool", "test/chaos/random-sequences.test.ts"],
  ],
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
  const chosen = chooseMutants(options)
  process.stdout.write(`${chosen.length} mutants, --seed ${options.seed}\n`)
  const copy = mkdtempSync(join(tmpdir(), "meanwhile-mutants-"))
  process.once("exit", () => rmSync(copy, { recursive: true, force: true }))
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130))
  for (const path of readdirSync(root).filter((name) => !NOT_COPIED.has(name)))
    cpSync(join(root, path), join(copy, path), { recursive: true })
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"))
  const mutants = leaveOutUnsound(copy, chosen)
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

/**
 * Leaves out the mutants whose tests fail without a mutant, because those tests would seem to notice every mutant. It names
 * the tests, and the script fails.
 */
function leaveOutUnsound(copy: string, mutants: readonly Mutant[]): readonly Mutant[] {
  const failures = new Map<readonly string[], readonly string[]>()
  for (const tests of new Set(mutants.map(({ file }) => testsOf(file)))) {
    const report = join(copy, `report-${failures.size}.json`)
    const { status, stderr } = runTests(copy, tests, ["--reporter", "json", "--outputFile", report])
    if (status === 0) continue
    const names = existsSync(report) ? readFailedTests(copy, readFileSync(report, "utf8")) : []
    failures.set(
      tests,
      names.length > 0 ? names : [stderr.trim() || `They did not end within ${MOST_MS / 60_000} min.`],
    )
  }
  for (const [tests, names] of failures) {
    const count = mutants.filter(({ file }) => testsOf(file) === tests).length
    process.exitCode = 1
    process.stdout.write(`The tests in ${tests.join(", ")} fail as they are, so ${count} mutants are not tried:\n`)
    for (const name of names) process.stdout.write(`  ${name}\n`)
  }
  return mutants.filter(({ file }) => !failures.has(testsOf(file)))
}

function isNoticedIn(copy: string, mutant: Mutant): boolean {
  const path = join(copy, mutant.file)
  const source = readFileSync(path, "utf8")
  try {
    writeFileSync(path, applyMutant(source, mutant))
    return runTests(copy, testsOf(mutant.file), ["--bail", "1", "--reporter", "dot"]).status !== 0
  } finally {
    writeFileSync(path, source)
  }
}

function testsOf(file: string): readonly string[] {
  return TESTS.find(([beginning]) => file.startsWith(`${beginning}/`))?.[1] ?? OTHER_TESTS
}

function runTests(copy: string, tests: readonly string[], args: readonly string[]) {
  const vitest = join(root, "node_modules/vitest/vitest.mjs")
  return spawnSync(process.execPath, [vitest, "run", "--project", "fast", ...args, ...tests], {
    cwd: copy,
    stdio: ["ignore", "ignore", "pipe"],
    maxBuffer: Number.POSITIVE_INFINITY,
    encoding: "utf8",
    timeout: MOST_MS,
    killSignal: "SIGKILL",
  })
}

function describe({ file, line, before, after }: Mutant): string {
  const short = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, 80)
  return `${file}:${line} ${short(before)} -> ${short(after) || "nothing"}`
}
