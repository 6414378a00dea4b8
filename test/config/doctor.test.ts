import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createRuntime } from "../../src/app.ts"
import { examineProgram } from "../../src/program/doctor.ts"
import { openProgram } from "../../src/program/open-program.ts"
import { examineHost } from "../../src/program/host.ts"
import { lookAtFolder, openTrustStore } from "../../src/program/folder.ts"
import { createFolder } from "../support/workplace.ts"

const KEY = "sk-test-0123456789abcdef"

function createProject(files: Readonly<Record<string, string>> = {}) {
  const root = createFolder()
  const workingDirectory = join(root, "project")
  const homeDirectory = join(root, "home")
  const dataDirectory = join(root, "data")
  mkdirSync(workingDirectory)
  mkdirSync(homeDirectory)
  for (const [name, content] of Object.entries(files)) writeFileSync(join(workingDirectory, name), content)
  return {
    dataDirectory,
    workingDirectory,
    homeDirectory,
    async trust() {
      const { contents } = await lookAtFolder({ workingDirectory, homeDirectory })
      await openTrustStore(homeDirectory).trust(contents)
    },
    async examine(environment: Record<string, string> = {}, nodeVersion = "24.1.0") {
      const findings = await examineProgram({
        dataDirectory,
        workingDirectory,
        homeDirectory,
        environment,
        nodeVersion,
      })
      return (check: string) => findings.find((finding) => finding.check === check)
    },
  }
}

test("a fresh folder has no problem, and says which model answers", async () => {
  const { examine } = createProject()
  const find = await examine()
  for (const check of ["node", "data folder", "engine", "trust", "config", "model", "plugins"]) {
    expect(find(check), check).toMatchObject({ status: "ok", fix: null })
  }
  expect(find("model")).toMatchObject({ text: "offline/rules" })
  expect(find("keys")).toMatchObject({ status: "warning", fix: expect.stringContaining("ANTHROPIC_API_KEY") })
})

test("every plugin that a start would have is named, and no other", async () => {
  const { examine, dataDirectory, workingDirectory, homeDirectory } = createProject()
  const find = await examine()
  const program = await openProgram({
    dataDirectory,
    workingDirectory,
    homeDirectory,
    environment: {},
    trust: false,
    notify() {},
  })
  onTestFinished(() => program.close())
  const started = program.plugins.list({ isExposed: true }).filter(({ kind }) => kind !== "model_provider")
  const named = find("plugins")?.text.split(", ")
  expect(named).toEqual(started.map(({ name }) => name))
  expect(named).toEqual(expect.arrayContaining(["permission", "session"]))
})

test("a key is named by its provider and never shown", async () => {
  const { examine } = createProject()
  const find = await examine({ ANTHROPIC_API_KEY: KEY })
  expect(find("keys")).toMatchObject({ status: "ok", text: "found for anthropic" })
  expect(find("model")).toMatchObject({ status: "ok", text: expect.stringMatching(/^anthropic\//) })
  expect(JSON.stringify([find("keys"), find("model"), find("config")])).not.toContain(KEY)
})

test("a folder in which conversations cannot be kept is named with its key, by the doctor and by a start", async () => {
  const session = { plugin: "file", storagePath: "file/talks" }
  const files = { "meanwhile.config.json": JSON.stringify({ session }), file: "" }
  const { examine, trust, dataDirectory, workingDirectory, homeDirectory } = createProject(files)
  await trust()
  const text = `The folder for conversations ${join(workingDirectory, "file/talks")} cannot be used: a part of that path is a file. Name another one as session.storagePath in the configuration.`
  expect((await examine())("conversations")).toMatchObject({ status: "problem", text })
  const file = await examine({ MEANWHILE_SESSION_STORAGE_PATH: "file" })
  expect(file("conversations")?.text).toContain("cannot be used: a part of that path is a file.")
  const told: string[] = []
  const folders = { dataDirectory, workingDirectory, homeDirectory }
  await using _program = await openProgram({
    ...folders,
    environment: {},
    trust: false,
    notify: (line) => told.push(line),
  })
  expect(told).toContain(text)
})

test("the size of a store counts what its log holds and its file does not yet", async () => {
  const { examine, dataDirectory } = createProject()
  await using runtime = await createRuntime({ dataDirectory, environment: {} })
  const session = await runtime.createSession()
  await session.send("word ".repeat(8_000))
  const { text = "" } = (await examine())("engine") ?? {}
  expect(Number(/healthy, ([\d.]+) MiB/.exec(text)?.[1])).toBeGreaterThan(0.1)
})

test("a store is opened, found healthy and measured", async () => {
  const { examine, dataDirectory } = createProject()
  const runtime = await createRuntime({ dataDirectory, environment: {} })
  await runtime.close()
  expect((await examine())("engine")).toMatchObject({
    status: "ok",
    text: expect.stringMatching(/healthy, [\d.]+ MiB/),
  })
})

test("a file that is no store, an old Node and a data folder that is a file are problems", async () => {
  const { examine, dataDirectory } = createProject()
  mkdirSync(dataDirectory)
  writeFileSync(join(dataDirectory, "store.sqlite"), "this is no store at all, whatever it is called".repeat(100))
  const find = await examine({}, "20.9.0")
  expect(find("engine")).toMatchObject({
    status: "problem",
    text: expect.stringContaining("is damaged: it does not begin as a database"),
  })
  expect(find("node")).toMatchObject({ status: "problem", fix: "Install Node 24 or newer." })
  const other = createProject()
  writeFileSync(other.dataDirectory, "")
  expect((await other.examine())("engine")).toMatchObject({ status: "problem" })
})

test("an untrusted folder is a warning and is not loaded; a trusted one with mistakes has a problem that names the key", async () => {
  const { examine, trust } = createProject({ "meanwhile.config.json": `{ "background": { "maxTasks": 3 } }` })
  const before = await examine()
  expect(before("trust")).toMatchObject({ status: "warning", fix: "Read them, then run: meanwhile trust" })
  expect(before("config")).toMatchObject({ status: "ok" })
  await trust()
  const after = await examine()
  expect(after("trust")).toMatchObject({ status: "ok" })
  expect(after("config")).toMatchObject({ status: "problem", text: expect.stringContaining("background.maxTasks") })
})

test("of a folder that changed since it was trusted, no config is run and no server asked", async () => {
  const server = (command: string) => JSON.stringify({ mcpServers: { gone: { command } } })
  const { examine, trust, workingDirectory } = createProject({
    "meanwhile.config.mjs": "export default {}",
    ".mcp.json": server("/no/such/program"),
  })
  await trust()
  const config = `import { writeFileSync } from "node:fs"
    writeFileSync(new URL("config-ran", import.meta.url), "")
    export default {}`
  writeFileSync(join(workingDirectory, "meanwhile.config.mjs"), config)
  writeFileSync(join(workingDirectory, ".mcp.json"), server("/no/such/program/either"))
  const find = await examine()
  expect(find("trust")).toMatchObject({
    status: "warning",
    text: expect.stringContaining("changed since you trusted it"),
  })
  expect(find("config")).toMatchObject({ status: "ok", text: "defaults" })
  expect(existsSync(join(workingDirectory, "config-ran"))).toBe(false)
  expect(find("mcp gone")).toBeUndefined()
})

test("a plugin that was skipped is a problem with its reason, unless only the model does not fit", async () => {
  const { examine, trust } = createProject({
    "meanwhile.config.json": `{ "plugins": ["./missing.mjs", "./picky.mjs"], "agent": { "model": "nobody/knows" } }`,
    "picky.mjs": `export default { kind: "tool", name: "picky", tools: [], modelRequirements: ["gpt-9*"] }`,
  })
  await trust()
  const find = await examine()
  expect(find("plugin ./missing.mjs")).toMatchObject({ status: "problem" })
  expect(find("plugin picky")).toMatchObject({ status: "warning", text: expect.stringContaining("gpt-9*") })
  expect(find("model")).toMatchObject({ status: "warning", text: expect.stringContaining("no provider here") })
})

test("a rule about a tool that no plugin has is a warning", async () => {
  const rules = [{ tool: "run_comand", decision: "deny" }]
  const { examine, trust } = createProject({ "meanwhile.config.json": JSON.stringify({ permissions: { rules } }) })
  await trust()
  expect((await examine())("permissions")).toMatchObject({
    status: "warning",
    text: expect.stringContaining("Did you mean run_command?"),
  })
})

test("an MCP server that cannot be reached is a problem, one that is switched off is not", async () => {
  const servers = { gone: { command: "/no/such/program" }, off: { command: "x", disabled: true } }
  const { examine, trust } = createProject({ ".mcp.json": JSON.stringify({ mcpServers: servers }) })
  expect((await examine())("mcp gone")).toBeUndefined()
  await trust()
  const find = await examine()
  expect(find("mcp gone")).toMatchObject({ status: "problem", fix: expect.stringContaining(".mcp.json") })
  expect(find("mcp off")).toMatchObject({ status: "ok" })
})

test("a data folder whose folders are missing too is made at the first start, and one that cannot be made is a problem", async () => {
  const { dataDirectory } = createProject()
  const examine = async (directory: string) => (await examineHost(directory, "24.1.0"))[1]
  expect(await examine(join(dataDirectory, "a", "b"))).toMatchObject({ status: "ok" })
  writeFileSync(dataDirectory, "a file")
  const below = join(dataDirectory, "a")
  const text = `The data folder ${below} cannot be used: a part of that path is a file.`
  expect(await examine(below)).toMatchObject({ status: "problem", text })
})

test.runIf(existsSync("/proc/self"))(
  "a data folder where none can be made is a problem, in the words of a start",
  async () => {
    const text = "The data folder /proc/x cannot be used: no folder can be made there."
    expect((await examineHost("/proc/x", "24.1.0"))[1]).toMatchObject({ status: "problem", text })
  },
)
