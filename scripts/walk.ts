import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { Session } from "node:inspector/promises"
import { tmpdir } from "node:os"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { parseArgs } from "node:util"
import type * as app from "../src/app.ts"
import type * as scripted from "../src/builtin/scripted/scripted-model.ts"
import type * as shell from "../src/builtin/shell/shell-plugin.ts"
import type * as plugins from "../src/plugin/define-plugin.ts"
import type * as tools from "../src/plugin/tool.ts"
import type { Operation } from "../src/task/operation.ts"

/**
 * Counts the files of `src` that one operation leads through: V8 saw at least one of their functions run. A file that is only
 * loaded does not count. Also counts how often a reader changes folder when they open each of those files from a file that
 * imports it. `--root` names another checkout, to compare two commits; `--files` lists the counted files.
 */
const { values } = parseArgs({
  options: { root: { type: "string" }, files: { type: "boolean" }, help: { type: "boolean" } },
})
const TIMES = 3
const USAGE = "usage: node scripts/walk.ts [--root CHECKOUT] [--files]"

export interface Walk {
  readonly name: string
  /** Relative to `src`, sorted. */
  readonly files: readonly string[]
  readonly folderChanges: number
}

if (values.help) {
  process.stdout.write(`${USAGE}\n`)
} else {
  const root = resolve(values.root ?? fileURLToPath(new URL("..", import.meta.url)))
  if (!statSync(join(root, "src", "app.ts"), { throwIfNoEntry: false })) {
    process.stderr.write(`There is no src/app.ts in ${root}.\n${USAGE}\n`)
    process.exit(2)
  }
  for (const walk of await takeWalks(root)) {
    process.stdout.write(`${walk.name}: ${walk.files.length} files, ${walk.folderChanges} changes of folder\n`)
    if (values.files) process.stdout.write(walk.files.map((file) => `  ${file}\n`).join(""))
  }
}

async function takeWalks(root: string): Promise<readonly Walk[]> {
  const source = join(root, "src")
  const folder = mkdtempSync(join(tmpdir(), "meanwhile-walk-"))
  const coverage = await startCoverage(source)
  const load = async <Module>(path: string): Promise<Module> =>
    (await import(pathToFileURL(join(source, path)).href)) as Module
  /** The first run, which loads and compiles, does not count. A file that only some of the other runs touch belongs to upkeep. */
  async function measure(name: string, go: () => Promise<unknown>): Promise<Walk> {
    await go()
    await coverage.take()
    let files: readonly string[] | undefined
    for (let time = 1; time <= TIMES; time++) {
      await go()
      const taken = new Set(await coverage.take())
      files = files?.filter((file) => taken.has(file)) ?? [...taken]
    }
    return { name, files: files ?? [], folderChanges: countFolderChanges(source, files ?? []) }
  }
  try {
    const modules = {
      ...(await load<typeof app>("app.ts")),
      ...(await load<typeof plugins>("plugin/define-plugin.ts")),
      ...(await load<typeof tools>("plugin/tool.ts")),
      ...(await load<typeof shell>("builtin/shell/shell-plugin.ts")),
      ...(await load<typeof scripted>("builtin/scripted/scripted-model.ts")),
    }
    return [
      ...(await walkTurn(modules, join(folder, "turn"), measure)),
      ...(await walkCommand(modules, folder, measure)),
      ...(await walkPostgres(modules, join(folder, "postgres"), measure)),
    ]
  } finally {
    await coverage.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

type Modules = typeof app & typeof plugins & typeof tools & typeof shell & typeof scripted
type Measure = (name: string, go: () => Promise<unknown>) => Promise<Walk>

async function walkTurn(modules: Modules, dataDirectory: string, measure: Measure): Promise<readonly Walk[]> {
  const turns = Array.from({ length: 1 + TIMES }, (_, index) => ({ city: `city ${index}` }))
  const script = turns.flatMap((input) => [{ calls: [{ tool: "look", input }] }, "Sunny."])
  const runtime = await modules.createRuntime({
    dataDirectory,
    model: modules.createScriptedModel(script),
    plugins: [await createLookPlugin(modules)],
  })
  try {
    const session = await runtime.createSession()
    return [await measure("one turn with one tool call", () => session.send("What is the weather?"))]
  } finally {
    await runtime.close()
  }
}

async function walkCommand(modules: Modules, folder: string, measure: Measure): Promise<readonly Walk[]> {
  const environment = { PATH: process.env["PATH"] ?? "" }
  const runtime = await modules.createRuntime({
    dataDirectory: join(folder, "command"),
    plugins: [modules.createShellPlugin({ workingDirectory: folder, environment })],
  })
  try {
    const promoted = async (): Promise<void> => {
      const input = { command: "echo begun; sleep 0.3; echo done" }
      const execution = runtime.tasks.execute({ tool: "run_command", input })
      if (!(await execution.promote())) throw new Error("the command ended before it was promoted")
      const { task } = await runtime.tasks.result(execution.taskId, { waitMs: 30_000, consume: true })
      if (task.status !== "completed") throw new Error(`the command is ${task.status}`)
    }
    return [await measure("a promoted shell command", promoted)]
  } finally {
    await runtime.close()
  }
}

/** Commits what starting a task commits, again and again, each time as another task. */
async function walkPostgres(modules: Modules, dataDirectory: string, measure: Measure): Promise<readonly Walk[]> {
  const { startTestServer } = await import("../test/support/postgres/server.ts")
  await using server = await startTestServer()
  const database = await server.createDatabase()
  const plugin = await createLookPlugin(modules)
  const runtime = await modules.createRuntime({ dataDirectory, engine: database.url, plugins: [plugin] })
  try {
    const { store } = runtime.engine
    const { commit } = store
    let started: readonly Operation[] = []
    store.commit = (operations, options) => {
      if (operations.some(({ op }) => op === "task.create")) started = operations
      return commit(operations, options)
    }
    const { id } = await runtime.tasks.start({ tool: "look", input: { city: "x" }, delayMs: 3_600_000 })
    store.commit = commit
    const text = JSON.stringify(started)
    const commitAgain = () => commit(JSON.parse(text.replaceAll(id, crypto.randomUUID())) as readonly Operation[])
    return [await measure("a commit on PostgreSQL", commitAgain)]
  } finally {
    await runtime.close()
  }
}

/** The tool's schema is made with the zod of the measured checkout. */
async function createLookPlugin({ definePlugin, defineTool }: Modules) {
  const { z } = await import("zod")
  const input = z.object({ city: z.string() })
  const background = { mode: "on_request" } as const
  const look = defineTool({ name: "look", description: "Looks.", input, background, run: async () => "sunny" })
  return definePlugin({ kind: "tool", name: "weather", tools: [look] })
}

async function startCoverage(source: string) {
  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false })
  const prefix = `${pathToFileURL(source).href}/`
  return {
    /** The files of which a function has run since the last time. The function that begins a script is the script itself. */
    async take(): Promise<readonly string[]> {
      const { result } = await session.post("Profiler.takePreciseCoverage")
      return result
        .filter(({ url }) => url.startsWith(prefix))
        .filter(({ functions }) =>
          functions.some(({ functionName, ranges: [range] }) => {
            const isScript = functionName === "" && range?.startOffset === 0
            return !isScript && (range?.count ?? 0) > 0
          }),
        )
        .map(({ url }) => url.slice(prefix.length))
        .toSorted()
    },
    async stop(): Promise<void> {
      await session.post("Profiler.stopPreciseCoverage")
      session.disconnect()
    },
  }
}

/**
 * Each file is opened once, breadth first, from the first file that imports it. The walk begins with the files that none of
 * the others imports; further folders among those count as changes, too.
 */
function countFolderChanges(source: string, files: readonly string[]): number {
  const left = new Set(files)
  const imports = new Map(files.map((file) => [file, importsOf(source, file).filter((one) => left.has(one))]))
  const imported = new Set([...imports.values()].flat())
  let changes = 0
  const queue = files.filter((file) => !imported.has(file))
  for (const file of queue) left.delete(file)
  changes += Math.max(0, new Set(queue.map(dirname)).size - 1)
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    for (const next of imports.get(file) ?? []) {
      if (!left.delete(next)) continue
      if (dirname(next) !== dirname(file)) changes += 1
      queue.push(next)
    }
  }
  return changes
}

function importsOf(source: string, file: string): readonly string[] {
  const text = readFileSync(join(source, file), "utf8")
  const specifiers = [...text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map((match) => match[1] ?? "")
  return specifiers.map((specifier) => relative(source, resolve(source, dirname(file), specifier)))
}
