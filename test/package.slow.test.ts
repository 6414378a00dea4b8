import { execFile } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { publint } from "publint"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { toOutputPattern } from "./support/documents/expected-output.ts"
import { readGuidePrograms } from "./support/documents/guide-programs.ts"
import { readPublished } from "./support/documents/published.ts"
import { runProgram } from "./support/documents/run-program.ts"
import { ENGINE_TEST } from "./support/engine-author.ts"

const run = promisify(execFile)
const root = fileURLToPath(new URL("..", import.meta.url))
const { exports, dependencies, peerDependencies, files } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
) as {
  exports: Record<string, { types: string }>
  dependencies: Record<string, string>
  peerDependencies: Record<string, string>
  files: string[]
}

const withoutPeers = readPublished(root).filter(({ entry }) => entry !== "meanwhile/testing/engine")

let consumer: string
let installed: string
let packed: { readonly filename: string; readonly files: readonly { readonly path: string }[] }

/** A folder in which the package is installed as it is published, with its dependencies and without its optional peers. */
beforeAll(async () => {
  consumer = mkdtempSync(join(tmpdir(), "meanwhile-package-"))
  installed = join(consumer, "node_modules", "meanwhile")
  mkdirSync(installed, { recursive: true })
  writeFileSync(join(consumer, "package.json"), '{ "type": "module" }\n')
  await run(process.execPath, [join(root, "scripts/build.ts"), join(installed, "dist")])
  for (const name of ["package.json", ...files.filter((name) => name !== "dist")]) {
    cpSync(join(root, name), join(installed, name), { recursive: true })
  }
  link(Object.keys(dependencies))
  packed = await pack()
})

afterAll(() => {
  rmSync(consumer, { recursive: true, force: true })
})

/** Packs the package with npm. Returns the list of its files, and the path of the archive. */
async function pack(): Promise<typeof packed> {
  const options = ["--json", "--ignore-scripts", "--pack-destination", consumer]
  const { stdout } = await run("npm", ["pack", ...options], { cwd: installed })
  const [found] = JSON.parse(stdout) as (typeof packed)[]
  if (!found) throw new Error(`npm has packed nothing: ${stdout}`)
  return { ...found, filename: join(consumer, found.filename) }
}

const compile = (args: readonly string[]) =>
  run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), ...args], { cwd: consumer })

/** Returns what the compiler prints; empty if it finds no error. */
async function compileStrictly(args: readonly string[]): Promise<string> {
  const options = ["--noEmit", "--strict", "--module", "nodenext", "--target", "esnext"]
  try {
    return (await compile([...options, ...args])).stdout
  } catch (error) {
    return error instanceof Error && "stdout" in error ? String(error.stdout) : String(error)
  }
}

/** Links in packed documents whose target is not packed. */
function findDeadLinks(paths: readonly string[]): readonly string[] {
  return paths
    .filter((path) => path.endsWith(".md"))
    .flatMap((path) =>
      [...readFileSync(join(installed, path), "utf8").matchAll(/\]\((?!\w+:|#)([^)#]+)/g)]
        .filter(([, target = ""]) => !existsSync(join(installed, dirname(path), target)))
        .map(([, target]) => `${path}: ${target}`),
    )
}

function link(packages: readonly string[]): void {
  for (const name of packages) {
    const target = join(consumer, "node_modules", name)
    mkdirSync(dirname(target), { recursive: true })
    symlinkSync(join(root, "node_modules", name), target)
  }
}

function write(name: string, source: string): string {
  const path = join(consumer, name)
  writeFileSync(path, source)
  return path
}

describe("the package as it is published", () => {
  test("holds what was built, the licence and the documents, and no test", () => {
    const paths = packed.files.map((file) => file.path)
    expect(paths).toEqual(
      expect.arrayContaining(["README.md", "CHANGELOG.md", "LICENSE", "dist/index.js", "dist/index.d.ts"]),
    )
    const isSource = (path: string) => path.includes(".test.") || /(?<!\.d)\.ts$/.test(path)
    expect(paths.filter((path) => isSource(path) && !path.startsWith("examples/"))).toEqual([])
    expect(findDeadLinks(paths)).toEqual([])
  })

  test("has no mistake in its manifest or its types that publint or attw knows", async () => {
    const tarball = new Uint8Array(readFileSync(packed.filename)).buffer
    const { messages } = await publint({ pack: { tarball }, strict: true })
    // The package among the examples is there to be copied. Nobody imports it from here.
    const isOurs = ({ args }: (typeof messages)[number]) => !JSON.stringify(args).includes("./examples/packages/")
    expect(messages.filter(isOurs)).toEqual([])
    const attw = join(root, "node_modules/@arethetypeswrong/cli/dist/index.js")
    const options = ["--profile", "esm-only", "--format", "json"]
    const report = await run(process.execPath, [attw, packed.filename, ...options]).catch((error: unknown) => ({
      stdout: error instanceof Error && "stdout" in error ? String(error.stdout) : String(error),
    }))
    expect(toMistakes(report.stdout)).toEqual([])
  })

  test("on an older Node says which one it needs, and ends with 2", async () => {
    const old = write(
      "old-node.mjs",
      'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })\n',
    )
    const main = join(installed, "dist/cli/main.js")
    const refused = run(process.execPath, ["--import", old, main, "--help"], { cwd: consumer })
    await expect(refused).rejects.toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^Meanwhile needs Node 24 or newer; this is 20\.20\.2\. .*\n$/),
    })
    expect(readFileSync(main, "utf8")).not.toMatch(/^\s*import[^(]|;import[^(]|\busing\b/)
  })

  test("shows little of its code when nobody catches an error of the library", async () => {
    const source = 'import { createRuntime } from "meanwhile"\nawait createRuntime({ engine: "nowhere:5432" })\n'
    const program = write("uncaught.mjs", source)
    const refused: unknown = await run(process.execPath, [program], { cwd: consumer }).catch((error: unknown) => error)
    const shown = refused instanceof Error && "stderr" in refused ? String(refused.stderr) : ""
    expect(shown).toContain("MeanwhileError")
    expect(shown.length).toBeLessThan(5_000)
  })

  test.each(withoutPeers)("can be imported as $entry without its optional peers", async ({ entry, values }) => {
    const program = write("import.ts", `import * as all from "${entry}"\nconsole.log(Object.keys(all).join())\n`)
    expect((await runProgram(program, consumer)).trim().split(",")).toEqual(values.toSorted())
  })

  test("says in one sentence what to install for a model of Vertex", async () => {
    const source = `import { createRuntime } from "meanwhile"
const providers = { vertex: { project: "my-project", location: "us-central1" } }
await using runtime = await createRuntime({ environment: {}, providers })
await runtime.connect("vertex/gemini-2.5-flash").catch(({ code, message }) => console.log(code + ": " + message))
`
    const printed = await runProgram(write("vertex.ts", source), consumer)
    expect(printed.trim()).toBe(
      "plugin_unavailable: Models of Vertex AI need the package @ai-sdk/google-vertex, which is not installed: npm install @ai-sdk/google-vertex@5",
    )
  })

  test("gives its fakes without its optional peers, as the guide shows", async () => {
    const guide = readFileSync(join(root, "docs/guide/agents.md"), "utf8")
    const [, source, expected] =
      /## Testing your agent[\s\S]*?```ts\n([\s\S]*?)```[\s\S]*?```text\n([\s\S]*?)```/.exec(guide) ?? []
    const program = write("testing.ts", source ?? "")
    expect((await runProgram(program, consumer)).trim()).toBe(expected?.trim())
  })

  test("runs the example of the README, which prints what the README says", async () => {
    const readme = readFileSync(join(root, "README.md"), "utf8")
    const [, source, expected] = /```ts\n([\s\S]*?)```[\s\S]*?```text\n([\s\S]*?)```/.exec(readme) ?? []
    const program = write("readme.ts", source ?? "")
    const printed = await runProgram(program, consumer)
    expect(printed.trim()).toMatch(toOutputPattern(expected ?? "an example in the README"))
  })

  test("has types that a strict consumer without types of Node compiles against", async () => {
    write("types.ts", withoutPeers.map(({ entry }) => `export * from "${entry}"\n`).join(""))
    expect(await compileStrictly(["--skipLibCheck", "false", "types.ts", "readme.ts"])).toBe("")
    // Each entry on its own, for a consumer who imports no other entry.
    for (const { types } of Object.values(exports))
      expect(readFileSync(join(installed, types), "utf8"), types).toMatch(/^\/\/\/ <reference types="node" \/>\n/)
  })

  test("has guides whose TypeScript compiles", async () => {
    const programs = readGuidePrograms(root, withoutPeers)
    for (const { name, source } of programs) write(name, source)
    // Third-party packages that guides show and that are not installed here.
    write("absent.d.ts", 'declare module "@ai-sdk/mistral"\ndeclare module "@opentelemetry/sdk-node"\n')
    expect(programs.length).toBeGreaterThan(20)
    expect(await compileStrictly(["absent.d.ts", ...programs.map(({ name }) => name)])).toBe("")
  })

  test("gives its fakes and the engine suite to consumers that have vitest and fast-check", async () => {
    link(Object.keys(peerDependencies))
    write("engine.test.ts", ENGINE_TEST)
    const vitest = join(root, "node_modules/vitest/vitest.mjs")
    const options = ["run", "--root", consumer, "--reporter=json", "--outputFile=report.json"]
    const suite = run(process.execPath, [vitest, ...options], { cwd: consumer })
    const outcome = await suite.then(() => "it passed", String)
    const path = join(consumer, "report.json")
    if (!existsSync(path)) throw new Error(`There is no report: ${outcome}`)
    const report = JSON.parse(readFileSync(path, "utf8")) as SuiteReport
    const results = report.testResults.flatMap(({ assertionResults }) => assertionResults)
    expect(results.filter(({ status }) => status === "failed")).toEqual([])
    expect(report).toMatchObject({ success: true })
    expect(report.numPassedTests).toBeGreaterThan(100)
  })
})

/** The mistakes that an ES module meets. The package is for ES modules alone. */
function toMistakes(report: string): readonly unknown[] {
  const { analysis } = JSON.parse(report) as { analysis: { problems: readonly { resolutionKind?: string }[] } }
  return analysis.problems.filter(({ resolutionKind }) => resolutionKind === undefined || ESM.includes(resolutionKind))
}

const ESM = ["node16-esm", "bundler"]

interface SuiteReport {
  readonly success: boolean
  readonly numPassedTests: number
  readonly testResults: readonly { readonly assertionResults: readonly { readonly status: string }[] }[]
}
