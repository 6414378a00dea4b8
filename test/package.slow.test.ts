import { execFile } from "node:child_process"
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { publint } from "publint"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { toOutputPattern } from "./support/documents/expected-output.ts"
import { readForeignPrograms, readGuidePrograms } from "./support/documents/guide-programs.ts"
import { readPublished } from "./support/documents/published.ts"
import { runProgram } from "./support/documents/run-program.ts"
import { ENGINE_TEST } from "./support/engine-author.ts"
import {
  type Consumer,
  createConsumer,
  createSibling,
  manifest,
  optionalPeers,
  peers,
  root,
} from "./support/package/consumer.ts"
import { listInstalled, sizeOf } from "./support/package/install-size.ts"
import { ASKED, OTHER_TOOLS, ZOD_TOOLS } from "./support/package/schema-program.ts"

const run = promisify(execFile)
const { exports, dependencies } = manifest
const withoutPeers = readPublished(root).filter(({ entry }) => entry !== "meanwhile/testing/engine")

let consumer: Consumer
let packed: { readonly filename: string; readonly files: readonly { readonly path: string }[] }

beforeAll(async () => {
  consumer = await createConsumer()
  packed = await pack(consumer)
})

afterAll(() => consumer[Symbol.dispose]())

/** Packs the package with npm. Returns the list of its files, and the path of the archive. */
async function pack({ folder, installed }: Consumer): Promise<typeof packed> {
  const options = ["--json", "--ignore-scripts", "--pack-destination", folder]
  const { stdout } = await run("npm", ["pack", ...options], { cwd: installed })
  const [found] = JSON.parse(stdout) as (typeof packed)[]
  if (!found) throw new Error(`npm has packed nothing: ${stdout}`)
  return { ...found, filename: join(folder, found.filename) }
}

/** Links in packed documents whose target is not packed. */
function findDeadLinks(paths: readonly string[]): readonly string[] {
  return paths
    .filter((path) => path.endsWith(".md"))
    .flatMap((path) =>
      [...readFileSync(join(consumer.installed, path), "utf8").matchAll(/\]\((?!\w+:|#)([^)#]+)/g)]
        .filter(([, target = ""]) => !existsSync(join(consumer.installed, dirname(path), target)))
        .map(([, target]) => `${path}: ${target}`),
    )
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

  test("is installed with at most 70 packages and 50 MB, zod included", () => {
    const needed = listInstalled()
    expect(needed).toContain("node_modules/zod")
    expect(needed.length + 1).toBeLessThanOrEqual(70)
    const bytes = [consumer.installed, ...needed.map((path) => join(root, path))].map(sizeOf)
    expect(bytes.reduce((sum, each) => sum + each, 0) / 2 ** 20).toBeLessThanOrEqual(50)
  })

  test("on an older Node says which one it needs, and ends with 2", async () => {
    const old = consumer.write(
      "old-node.mjs",
      'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })\n',
    )
    const main = join(consumer.installed, "dist/cli/main.js")
    const refused = run(process.execPath, ["--import", old, main, "--help"], { cwd: consumer.folder })
    await expect(refused).rejects.toMatchObject({
      code: 2,
      stdout: "",
      stderr: expect.stringMatching(/^Meanwhile needs Node 24 or newer; this is 20\.20\.2\. .*\n$/),
    })
    expect(readFileSync(main, "utf8")).not.toMatch(/^\s*import[^(]|;import[^(]|\busing\b/)
  })

  test.each(withoutPeers)(
    "on an older Node an import of $entry says which one it needs, in one line",
    async ({ entry }) => {
      const program = consumer.write(
        "old-import.mjs",
        `await import("${entry}").catch((error) => console.log(error.stack))\n`,
      )
      const old = join(consumer.folder, "old-node.mjs")
      const { stdout } = await run(process.execPath, ["--import", old, program], { cwd: consumer.folder })
      expect(stdout).toBe("Meanwhile needs Node 24 or newer; this is 20.20.2.\n")
    },
  )

  test("can be read by an older Node, which could not say what it needs otherwise", () => {
    const built = globSync("dist/**/*.js", { cwd: consumer.installed })
    expect(built.length).toBeGreaterThan(20)
    expect(built.filter((name) => /\busing \w+ =/.test(readFileSync(join(consumer.installed, name), "utf8")))).toEqual(
      [],
    )
    for (const { default: entry } of Object.values(exports)) {
      expect(readFileSync(join(consumer.installed, entry), "utf8"), entry).toMatch(
        /^import "(?:\.\.?\/)+needed-node\.js";/,
      )
    }
  })

  test("shows little of its code when nobody catches an error of the library", async () => {
    const source = 'import { createRuntime } from "meanwhile"\nawait createRuntime({ engine: "nowhere:5432" })\n'
    const program = consumer.write("uncaught.mjs", source)
    const refused: unknown = await run(process.execPath, [program], { cwd: consumer.folder }).catch(
      (error: unknown) => error,
    )
    const shown = refused instanceof Error && "stderr" in refused ? String(refused.stderr) : ""
    expect(shown).toContain("MeanwhileError")
    expect(shown.length).toBeLessThan(2_000)
    expect(Math.max(...shown.split("\n").map((line) => line.length))).toBeLessThan(300)
  })

  test.each(withoutPeers)("can be imported as $entry without its optional peers", async ({ entry, values }) => {
    const program = consumer.write(
      "import.ts",
      `import * as all from "${entry}"\nconsole.log(Object.keys(all).join())\n`,
    )
    expect((await runProgram(program, consumer.folder)).trim().split(",")).toEqual(values.toSorted())
  })

  test("says in one sentence what to install for a model of Vertex", async () => {
    const source = `import { createRuntime } from "meanwhile"
const providers = { vertex: { project: "my-project", location: "us-central1" } }
await using runtime = await createRuntime({ environment: {}, providers })
await runtime.connect("vertex/gemini-2.5-flash").catch(({ code, message }) => console.log(code + ": " + message))
`
    const printed = await runProgram(consumer.write("vertex.ts", source), consumer.folder)
    expect(printed.trim()).toBe(
      "plugin_unavailable: Models of Vertex AI need the package @ai-sdk/google-vertex, which is not installed: npm install @ai-sdk/google-vertex@5",
    )
  })

  test("gives its fakes without its optional peers, as the guide shows", async () => {
    const guide = readFileSync(join(root, "docs/guide/agents.md"), "utf8")
    const [, source, expected] =
      /## Testing your agent[\s\S]*?```ts\n([\s\S]*?)```[\s\S]*?```text\n([\s\S]*?)```/.exec(guide) ?? []
    const program = consumer.write("testing.ts", source ?? "")
    expect((await runProgram(program, consumer.folder)).trim()).toBe(expected?.trim())
  })

  test("runs the example of the README, which prints what the README says", async () => {
    const readme = readFileSync(join(root, "README.md"), "utf8")
    const [, source, expected] = /```ts\n([\s\S]*?)```[\s\S]*?```text\n([\s\S]*?)```/.exec(readme) ?? []
    const program = consumer.write("readme.ts", source ?? "")
    const printed = await runProgram(program, consumer.folder)
    expect(printed.trim()).toMatch(toOutputPattern(expected ?? "an example in the README"))
  })

  test("has types that a strict consumer without types of Node, or of any optional peer, compiles against", async () => {
    consumer.write("types.ts", withoutPeers.map(({ entry }) => `export * from "${entry}"\n`).join(""))
    const older = ["--target", "es2022"]
    expect(await consumer.compile(["--skipLibCheck", "false", ...older, "types.ts"])).toBe("")
    expect(await consumer.compile(["--skipLibCheck", "false", "types.ts", "readme.ts"])).toBe("")
    expect(existsSync(join(consumer.folder, "node_modules/@types/node"))).toBe(false)
  })

  test("has no declaration that no entry needs, and none of a package that readers need not have", () => {
    const declarations = globSync("dist/**/*.d.ts", { cwd: consumer.installed })
    const named = declarations.flatMap((name) =>
      [...readFileSync(join(consumer.installed, name), "utf8").matchAll(/(?:from |import\()"([^."][^"]*)"/g)].map(
        ([, id]) => id,
      ),
    )
    const wanted = [...Object.keys(dependencies), ...peers]
    expect([...new Set(named)].filter((id = "") => !wanted.includes(id) && !isOfSuite(id))).toEqual([])
    expect(declarations.filter((name) => name.startsWith("dist/cli/"))).toEqual([])
  })

  test("has guides whose TypeScript compiles", async () => {
    const programs = readGuidePrograms(root, withoutPeers)
    for (const { name, source } of programs) consumer.write(name, source)
    // Third-party packages that guides show and that are not installed here.
    consumer.write("absent.d.ts", 'declare module "@ai-sdk/mistral"\ndeclare module "@opentelemetry/sdk-node"\n')
    expect(programs.length).toBeGreaterThan(20)
    consumer.link(["@types/node", "undici-types"])
    expect(await consumer.compile(["--types", "node", "absent.d.ts", ...programs.map(({ name }) => name)])).toBe("")
  })

  test("has a guide whose programs of the AI SDK compile with it", async () => {
    using reader = createSibling(consumer, "ai", "ai")
    const programs = readForeignPrograms(root, "ai")
    for (const { name, source } of programs) reader.write(name, source)
    expect(programs).toHaveLength(4)
    reader.link(["@types/node", "undici-types"])
    const options = ["--skipLibCheck", "--types", "node"]
    expect(await reader.compile([...options, ...programs.map(({ name }) => name)])).toBe("")
  })

  test("gives its fakes and the engine suite to consumers that have vitest and fast-check", async () => {
    consumer.link(optionalPeers)
    consumer.write("engine.test.ts", ENGINE_TEST)
    const vitest = join(root, "node_modules/vitest/vitest.mjs")
    const options = ["run", "--root", consumer.folder, "--reporter=json", "--outputFile=report.json"]
    const suite = run(process.execPath, [vitest, ...options], { cwd: consumer.folder })
    const outcome = await suite.then(() => "it passed", String)
    const path = join(consumer.folder, "report.json")
    if (!existsSync(path)) throw new Error(`There is no report: ${outcome}`)
    const report = JSON.parse(readFileSync(path, "utf8")) as SuiteReport
    const results = report.testResults.flatMap(({ assertionResults }) => assertionResults)
    expect(results.filter(({ status }) => status === "failed")).toEqual([])
    expect(report).toMatchObject({ success: true })
    expect(report.numPassedTests).toBeGreaterThan(100)
  })
})

/** Far below what a comparison of two versions of zod took: 38 seconds and 2.3 GB, of a program of one tool. */
const MOST_INSTANTIATIONS = 1_500_000
const RESOLUTIONS = [
  ["--module", "nodenext"],
  ["--module", "esnext", "--moduleResolution", "bundler"],
] as const

describe("the types and the schemas of a consumer", () => {
  const strictly = ["--skipLibCheck", "false", "--extendedDiagnostics"]

  /** For each way of resolution, the mistakes that the compiler finds, and that it had much to do, if it had. */
  async function findMistakes(of: Consumer, args: readonly string[]): Promise<readonly (readonly string[])[]> {
    const printed = await Promise.all(
      RESOLUTIONS.map((resolution) => of.compile([...strictly, ...resolution, ...args])),
    )
    return printed.map((text) => {
      const lines = text.split("\n")
      const count = Number(lines.find((line) => line.startsWith("Instantiations:"))?.split(":")[1])
      const mistakes = lines.filter((line) => /error TS|^ {2}/.test(line))
      return count < MOST_INSTANTIATIONS ? mistakes : [...mistakes, `${count} instantiations`]
    })
  }

  test.each([
    ["oldest", "zod-oldest"],
    ["middle", "zod-middle"],
    ["newest", "zod"],
  ])("compile in seconds with the %s zod 4, and its schemas work", async (_, zod) => {
    using sibling = createSibling(consumer, "zod", zod)
    sibling.write("tools.ts", ZOD_TOOLS)
    sibling.write("types.ts", withoutPeers.map(({ entry }) => `export * from "${entry}"\n`).join(""))
    expect(await findMistakes(sibling, ["tools.ts", "types.ts"])).toEqual([[], []])
    const [said, told] = (await runProgram(sibling.write("asked.mjs", ASKED), sibling.folder)).split("\n")
    expect(said).toMatch(/^"Gugelhupf is golden \/ The arguments of bake are not valid/)
    expect(JSON.parse(told ?? "")).toMatchObject({ cake: { type: "string", description: "its name" } })
  })

  test("compile in seconds with valibot and arktype", async () => {
    using sibling = createSibling(consumer, "zod", "zod")
    sibling.link(["valibot", "@valibot/to-json-schema", "arktype"])
    // arktype names two types of Node, which would take longer to check than all else.
    sibling.write("buffer.d.ts", 'declare module "buffer" {\n  export class Blob {}\n  export class File {}\n}\n')
    sibling.write("tools.ts", OTHER_TOOLS)
    expect(await findMistakes(sibling, ["buffer.d.ts", "tools.ts"])).toEqual([[], []])
  })
})

/** The engine suite is for those who have its peers. */
const isOfSuite = (id: string): boolean => optionalPeers.includes(id)

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
