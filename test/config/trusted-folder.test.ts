import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { createRuntime } from "../../src/app.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { openProgram, type ProgramOptions, type TrustQuestion } from "../../src/program/open-program.ts"
import { findEngineUrl } from "../../src/program/engine.ts"
import { createFolder } from "../support/workplace.ts"

const BUILT_IN = [
  "permission",
  "shell",
  "file_edit",
  "web",
  "todo",
  "references",
  "subagent",
  "slash_command",
  "clarification",
  "multimodal",
  "background",
]

const FILES = {
  "meanwhile.config.mjs": `export default {
    background: { maxConcurrentTasks: 1 },
    plugins: ["./tickets.mjs", "./missing.mjs"],
  }`,
  ".mcp.json": `{ "mcpServers": { "gone": { "command": "/no/such/program" } } }`,
  ".meanwhile/commands/release.md": "Release it.",
  ".meanwhile/profiles/reviewer.md": "---\ndescription: Reviews.\n---\nReview.",
  ".meanwhile/references/house.md": "# House rules\nBe kind.",
}
/** Says in the folder itself that it was loaded: other tests load theirs in the same process. */
const PLUGIN = `import { writeFileSync } from "node:fs"
writeFileSync(new URL("tickets-were-loaded", import.meta.url), "")
export default { kind: "tool", name: "tickets", tools: [] }`

function write(directory: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), content)
  }
}

function createProject(files: Readonly<Record<string, string>> = FILES) {
  const root = createFolder()
  const directory = join(root, "project")
  const dataDirectory = join(root, "data")
  const homeDirectory = join(root, "home")
  write(directory, { "tickets.mjs": PLUGIN, ...files })
  write(homeDirectory, { ".meanwhile/commands/mine.md": "My own." })
  const told: string[] = []
  async function open(options: Partial<ProgramOptions> = {}) {
    const meanwhile = await openProgram({
      dataDirectory,
      workingDirectory: directory,
      homeDirectory,
      environment: { PATH: process.env["PATH"] },
      trust: false,
      notify: (text) => told.push(text),
      ...options,
    })
    onTestFinished(() => meanwhile.close())
    const plugins = meanwhile.plugins.list({ isExposed: true })
    return {
      plugins: plugins.filter(({ kind }) => kind === "tool").map(({ name }) => name),
      commands: meanwhile.plugins.userCommands().map(({ command }) => command.name),
      meanwhile,
    }
  }
  const findEngine = () =>
    findEngineUrl({
      workingDirectory: directory,
      homeDirectory,
      environment: {},
      notify: (text) => told.push(text),
    })
  return {
    directory,
    dataDirectory,
    open,
    findEngine,
    told,
    write: (changed: Readonly<Record<string, string>>) => write(directory, changed),
  }
}

test("--trust says what it agrees to: a data folder that other programs made, once, or that there is nothing to trust", async () => {
  const { directory, dataDirectory, open, told } = createProject({})
  await (await createRuntime({ dataDirectory })).close()
  for (const _start of ["first", "second"]) await (await open({ trust: true })).meanwhile.close()
  expect(told).toEqual([
    `You agree to the data folder ${dataDirectory}: what is kept in it may run from now on.`,
    `There is nothing in ${directory} to trust.`,
  ])
})

test("a cloned folder's config, servers, commands, profiles and references do nothing until the person trusts it", async () => {
  const { directory, open, told } = createProject()
  const { plugins, commands } = await open()
  expect(plugins).toEqual(BUILT_IN)
  expect(existsSync(join(directory, "tickets-were-loaded"))).toBe(false)
  expect(commands).toContain("mine")
  expect(commands).not.toContain("release")
  expect(told).toEqual([expect.stringContaining("Not loaded from")])
  for (const file of Object.keys(FILES)) expect(told[0]).toContain(`  ${file}\n`)
  expect(told[0]).toContain("--trust")
})

test("a trusted folder's files are used, now and at the next start, and a plugin that does not load is told of", async () => {
  const { open, told } = createProject()
  for (const trust of [true, false]) {
    const { plugins, commands } = await open({ trust })
    expect(plugins).toEqual(expect.arrayContaining([...BUILT_IN, "mcp", "tickets"]))
    expect(commands).toEqual(expect.arrayContaining(["mine", "release"]))
  }
  expect(told[0]).toContain("./missing.mjs did not load")
})

test.each(Object.keys(FILES))("a folder whose %s changed must be trusted again", async (file) => {
  const { open, told, write } = createProject({ ...FILES, "meanwhile.config.mjs": "export default {}" })
  await open({ trust: true })
  write({ [file]: file.endsWith(".mjs") ? "export default { agent: {} }" : `${Object.values(FILES)[1]} ` })
  const { plugins } = await open()
  expect(plugins).toEqual(BUILT_IN)
  expect(told.at(-1)).toContain("changed since you trusted it")
})

test("a trusted config that changed is not run: neither its code nor the plugin it names", async () => {
  const { open, write } = createProject({ "meanwhile.config.mjs": "export default {}" })
  await open({ trust: true })
  write({
    "changed.mjs": `globalThis.changedPluginRan = true\nexport default { kind: "tool", name: "changed", tools: [] }`,
    "meanwhile.config.mjs": `globalThis.changedConfigRan = true\nexport default { plugins: ["./changed.mjs"] }`,
  })
  expect((await open()).plugins).toEqual(BUILT_IN)
  expect(Object.keys(globalThis)).not.toContain("changedConfigRan")
  expect(Object.keys(globalThis)).not.toContain("changedPluginRan")
})

test("a trusted config that changed is not run to learn which store it names, and the person is told why", async () => {
  const { directory, open, findEngine, told, write } = createProject({ "meanwhile.config.mjs": "export default {}" })
  await open({ trust: true })
  write({
    "meanwhile.config.mjs": `import { writeFileSync } from "node:fs"
      writeFileSync(new URL("config-ran", import.meta.url), "")
      export default { engine: "postgres://elsewhere/store" }`,
  })
  expect(await findEngine()).toBeUndefined()
  expect(existsSync(join(directory, "config-ran"))).toBe(false)
  expect(told.at(-1)).toMatch(/meanwhile\.config\.mjs may name another store.*changed since you trusted it/)
})

test("a reference of a trusted folder that changed is not there to be read", async () => {
  const { open, write } = createProject({ ".meanwhile/references/house.md": "# House rules\nBe kind." })
  const list = async (trust: boolean) => {
    const model = createScriptedModel([{ calls: [{ tool: "listReferences", input: {} }] }, "Done."])
    const session = await (await open({ trust, model })).meanwhile.createSession()
    await session.send("Which rules are there?")
    return JSON.stringify(model.requests.at(-1)?.messages)
  }
  expect(await list(true)).toContain("House rules")
  write({ ".meanwhile/references/house.md": "# House rules\nBe cruel." })
  expect(await list(false)).toContain("There are no references.")
})

test("a new command file takes the trust of its folder away", async () => {
  const { open, write } = createProject()
  await open({ trust: true })
  write({ ".meanwhile/commands/second.md": "Do more." })
  expect((await open()).commands).toEqual(expect.not.arrayContaining(["release", "second"]))
})

test("the person is asked once, before anything is loaded, and a yes is remembered", async () => {
  const { open } = createProject()
  const questions: TrustQuestion[] = []
  const confirmTrust = async (question: TrustQuestion) => questions.push(question) > 1
  expect((await open({ confirmTrust })).commands).not.toContain("release")
  expect((await open({ confirmTrust })).commands).toContain("release")
  expect((await open({ confirmTrust })).commands).toContain("release")
  expect(questions).toHaveLength(2)
  expect(questions[0]).toMatchObject({ files: Object.keys(FILES), isChanged: false })
})

test("what changes while the person is asked is not trusted by their answer", async () => {
  const { open, told, write } = createProject()
  const confirmTrust = async () => {
    write({ ".meanwhile/commands/release.md": "Delete everything." })
    return true
  }
  expect((await open({ confirmTrust })).commands).not.toContain("release")
  expect(told[0]).toContain("changed since you trusted it")
})

test("a file's name cannot draw on the terminal", async () => {
  const { open, told } = createProject({ ".meanwhile/commands/\u001b[2Jclear.md": "x" })
  await open()
  expect(told[0]).toContain("[2Jclear.md")
  expect(told[0]).not.toContain("\u001b")
})

test("a mistake in .mcp.json is reported and costs nothing but the servers", async () => {
  const { open, told } = createProject({ ".mcp.json": "{" })
  expect((await open({ trust: true })).plugins).toEqual(BUILT_IN)
  expect(told[0]).toMatch(/No MCP server was started.*\.mcp\.json: it is not JSON/s)
})

test("in the person's own home their commands need no trust", async () => {
  const { directory, open, told } = createProject({ ".meanwhile/commands/release.md": "Release it." })
  expect((await open({ homeDirectory: directory })).commands).toContain("release")
  expect(told).toEqual([])
})
