import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import { createRuntime } from "../../src/app.ts"
import { createMcpPlugin } from "../../src/builtin/mcp/mcp-plugin.ts"
import { readMcpConfig } from "../../src/builtin/mcp/read-mcp-config.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { openProgram } from "../../src/program/open-program.ts"
import { examineProgram } from "../../src/program/doctor.ts"
import { everything } from "../support/mcp/open-mcp.ts"
import { eventually } from "../support/eventually.ts"
import { createFolder } from "../support/workplace.ts"

/** A folder whose only server can be started once the file `ready` exists. */
function createProject() {
  const root = createFolder()
  const workingDirectory = join(root, "project")
  mkdirSync(workingDirectory)
  const script = `test -e ready && exec "${everything.command}" "${everything.args[0]}"`
  const mcpServers = {
    late: { command: "/bin/sh", args: ["-c", script], connectTimeoutMs: everything.connectTimeoutMs },
  }
  writeFileSync(join(workingDirectory, ".mcp.json"), JSON.stringify({ mcpServers }))
  return {
    workingDirectory,
    dataDirectory: join(root, "data"),
    homeDirectory: join(root, "home"),
    environment: { PATH: process.env["PATH"] ?? "" },
    makeReady: () => writeFileSync(join(workingDirectory, "ready"), ""),
  }
}

test("a server of a trusted folder that comes late is offered to a conversation that has begun, and can be called", async () => {
  const { makeReady, ...place } = createProject()
  const model = createScriptedModel([
    { calls: [{ tool: "mcp__late__echo", input: { message: "over there" } }] },
    "Heard.",
  ])
  const environment = { ...place.environment, MEANWHILE_PERMISSIONS_MODE: "allow_all" }
  const meanwhile = await openProgram({ ...place, environment, trust: true, model, notify: () => {} })
  onTestFinished(() => meanwhile.close())
  const session = await meanwhile.createSession()
  const hasEcho = () => session.tools().some(({ name }) => name === "mcp__late__echo")
  expect(hasEcho()).toBe(false)
  makeReady()
  await eventually("the tools of the server are offered", hasEcho)
  await session.send("Is anybody there?")
  expect(JSON.stringify(model.requests.at(-1)?.messages)).toContain("over there")
})

test("doctor says whether a trusted folder's server can be reached, and how many tools it has", async () => {
  const { makeReady, ...place } = createProject()
  const look = async () => (await examineProgram(place)).find(({ check }) => check === "mcp late")
  expect(await look()).toBeUndefined()
  const meanwhile = await openProgram({ ...place, trust: true, notify: () => {} })
  await meanwhile.close()
  expect(await look()).toMatchObject({ status: "problem" })
  makeReady()
  expect(await look()).toMatchObject({ status: "ok", text: expect.stringMatching(/^reachable, \d+ tools$/) })
})

/** A folder with a server that never says a word. */
function createSilentProject(connectTimeoutMs: number) {
  const { makeReady: _, ...place } = createProject()
  const mcpServers = { silent: { command: "/bin/sh", args: ["-c", "exec sleep 60"], connectTimeoutMs } }
  writeFileSync(join(place.workingDirectory, ".mcp.json"), JSON.stringify({ mcpServers }))
  const notes: string[] = []
  return { notes, place: { ...place, trust: true, notify: (text: string) => void notes.push(text) } }
}

test("a server that does not answer does not keep the program from talking and ending, and is reported", async () => {
  const { notes, place } = createSilentProject(120_000)
  const patient = await openProgram({ ...place, model: createScriptedModel(["Hello."]) })
  expect((await (await patient.createSession()).send("Hi.")).text).toBe("Hello.")
  await patient.close()
  expect(notes).toEqual([])

  const hasty = createSilentProject(300)
  const meanwhile = await openProgram(hasty.place)
  onTestFinished(() => meanwhile.close())
  await eventually("it is told", () => hasty.notes.length > 0)
  expect(hasty.notes).toEqual([expect.stringMatching(/^MCP server silent is not reachable: .*, see \/mcp$/)])
})

test("a program that waits for servers waits until they were tried, and is told so", async () => {
  const { notes, place } = createSilentProject(1_500)
  const meanwhile = await openProgram({ ...place, waitsForServers: true })
  onTestFinished(() => meanwhile.close())
  expect(notes).toEqual(["Waiting for the MCP servers…", expect.stringContaining("silent is not reachable")])
})

test("work that an earlier process left finds the tools of its server", async () => {
  const { makeReady, ...place } = createProject()
  makeReady()
  const { workingDirectory, dataDirectory, environment } = place
  const config = await readMcpConfig(join(workingDirectory, ".mcp.json"), environment)
  const plugins = [createMcpPlugin({ config, workingDirectory, environment })]
  const looking = await createRuntime({ dataDirectory, environment, plugins, takesWork: false })
  const { id } = await looking.tasks.start({ tool: "mcp__late__echo", input: { message: "still here" } })
  await looking.close()
  const meanwhile = await openProgram({ ...place, trust: true, notify: () => {} })
  onTestFinished(() => meanwhile.close())
  expect((await meanwhile.desk(LOCAL_PERSON).tasks.wait(id, { waitMs: 20_000 })).task.status).toBe("completed")
})
