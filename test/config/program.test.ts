import { once } from "node:events"
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { dirname, join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import type { Script } from "../../src/builtin/scripted/script.ts"
import { openProgram } from "../../src/program/open-program.ts"
import type { ConfigInput } from "../../src/config-sections.ts"
import { createFolder } from "../support/workplace.ts"

interface Settings {
  readonly config?: ConfigInput
  readonly files?: Readonly<Record<string, string>>
  readonly script?: Script
  readonly environment?: Readonly<Record<string, string>>
}

async function open({ config = {}, files = {}, script = ["Hello."], environment = {} }: Settings) {
  const directory = createFolder()
  for (const [name, content] of Object.entries({ ...files, "meanwhile.config.json": JSON.stringify(config) })) {
    mkdirSync(dirname(join(directory, name)), { recursive: true })
    writeFileSync(join(directory, name), content)
  }
  const model = createScriptedModel(script)
  const told: string[] = []
  const meanwhile = await openProgram({
    dataDirectory: join(directory, "data"),
    workingDirectory: directory,
    homeDirectory: join(directory, "home"),
    environment: { PATH: process.env["PATH"], MEANWHILE_TEST: directory, ...environment },
    trust: true,
    model,
    notify: (line) => told.push(line),
  })
  onTestFinished(() => meanwhile.close())
  return { directory, meanwhile, model, told, session: await meanwhile.createSession() }
}

const lastAnswer = (model: ReturnType<typeof createScriptedModel>) => JSON.stringify(model.requests.at(-1)?.messages)

test("every built-in plugin offers its tools to the model", async () => {
  const { session } = await open({})
  expect(session.tools().map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      "askPermission",
      "run_command",
      "readFile",
      "updateFile",
      "writeNewFile",
      "removeFile",
      "undoFileChange",
      "fetch_url",
      "createPlan",
      "updateStep",
      "getPlanStatus",
      "listReferences",
      "selectReferences",
      "spawn_subagent",
      "list_subagent_profiles",
      "processCommand",
      "request_clarification",
      "viewImage",
      "session_describe",
    ]),
  )
})

test("the sections of a configuration reach the parts they are about", async () => {
  const { meanwhile, model, session } = await open({
    config: {
      agent: { instructions: "Answer in rhymes." },
      models: { "scripted/*": { contextLimitTokens: 7_777 } },
      references: { documents: [{ id: "rules", name: "House rules", text: "Be kind." }] },
      permissions: { rules: [{ tool: "run_command", decision: "deny", reason: "Not in this house." }] },
    },
    script: [
      { calls: [{ tool: "run_command", input: { command: "ls" } }] },
      { calls: [{ tool: "selectReferences", input: { ids: ["rules"] } }] },
      "Done.",
    ],
  })
  await session.send("Go on.")
  expect(model.requests[0]?.system).toContain("Answer in rhymes.")
  expect(session.contextUsage().limitTokens).toBe(7_777)
  expect(lastAnswer(model)).toContain("Not in this house.")
  expect(lastAnswer(model)).toContain("Be kind.")
  expect(meanwhile.catalogue.factsOf("scripted/other").contextLimitTokens).toBe(7_777)
})

test("the task tools show no more results than an answer may hold", async () => {
  const pages = await openHeldPages()
  const { meanwhile, model, session } = await open({
    config: {
      agent: { toolResultLimitCharacters: 1_000 },
      reports: { enabled: false },
      permissions: { mode: "allow_all" },
      web: { allowPrivateHosts: ["127.0.0.1"] },
    },
    script: [{ calls: [{ tool: "wait_for", input: {} }] }, "Done."],
  })
  for (const path of ["a", "b", "c"]) {
    const input = { url: `${pages.url}/${path}` }
    await meanwhile.desk(LOCAL_PERSON).tasks.start({ tool: "fetch_url", input, session: session.id })
  }
  // No page ends before it is waited for: its result would come with the message instead.
  session.on(({ type }) => {
    if (type === "tool_call.started") pages.release()
  })
  await session.send("Wait.")
  expect(lastAnswer(model)).toContain("2 more tasks have ended. Their results are not shown here")
})

/** A server whose pages come when they are released. */
async function openHeldPages() {
  const released = Promise.withResolvers<void>()
  const server = createServer((_request, response) => {
    response.setHeader("content-type", "text/plain")
    void released.promise.then(() => response.end("a page"))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    released.resolve()
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, release: released.resolve }
}

test("an environment variable goes before the configuration", async () => {
  const { model, session } = await open({
    config: { agent: { instructions: "Answer in rhymes." } },
    environment: { MEANWHILE_AGENT_INSTRUCTIONS: "Answer in prose." },
  })
  await session.send("Go on.")
  expect(model.requests[0]?.system).toContain("Answer in prose.")
})

test("a trusted folder's command, profile and reference can be used", async () => {
  const { model, session } = await open({
    files: {
      ".meanwhile/commands/release.md": "Release $1 now.",
      ".meanwhile/profiles/reviewer.md": "---\ndescription: Reviews with care.\n---\nReview.",
      ".meanwhile/references/house.md": "# House rules\nBe kind.",
    },
    script: [
      {
        calls: [
          { tool: "processCommand", input: { command_name: "release", args: "1.2" } },
          { tool: "list_subagent_profiles", input: {} },
          { tool: "listReferences", input: {} },
        ],
      },
      "Done.",
    ],
  })
  await session.send("Go on.")
  for (const text of ["Release 1.2 now.", "Reviews with care.", "House rules"])
    expect(lastAnswer(model)).toContain(text)
})

test("conversations are kept in files where the configuration says so", async () => {
  const { directory, session } = await open({ config: { session: { plugin: "file", storagePath: "talks" } } })
  await session.send("Hello?")
  expect(await session.runCommand("save")).toContain("Saved to")
  expect(readdirSync(join(directory, "talks"))).toEqual([`${session.id}.json`])
})

test("a program without a prompt for commands names the file of a server that it does not reach, in plain words", async () => {
  const workingDirectory = createFolder()
  const mcpServers = { gone: { command: "/nowhere/server" } }
  writeFileSync(join(workingDirectory, ".mcp.json"), JSON.stringify({ mcpServers }))
  const folders = { workingDirectory, dataDirectory: join(workingDirectory, "data"), homeDirectory: createFolder() }
  const told: string[] = []
  const notify = (line: string) => told.push(line)
  await using _program = await openProgram({ ...folders, environment: {}, trust: true, notify, waitsForServers: true })
  expect(told).toEqual([
    'MCP server gone is not reachable: the program /nowhere/server was not found. Check its entry in .mcp.json, or set "disabled": true',
  ])
})

test("a worker whose configuration lets it take nothing is refused, with the key", async () => {
  const workingDirectory = createFolder()
  const folders = { workingDirectory, dataDirectory: join(workingDirectory, "data"), homeDirectory: createFolder() }
  const environment = { MEANWHILE_BACKGROUND_MAX_CONCURRENT_TASKS: "0" }
  const opening = openProgram({ ...folders, environment, trust: false, notify() {}, worker: {} })
  await expect(opening).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringMatching(/^background\.maxConcurrentTasks is 0: a worker would take nothing\./),
  })
})

test("a variable that sets nothing is refused with the name that was meant, and with none that only begins alike", async () => {
  const environment = { MEANWHILE_BACKGROUND_THRESHOLD_SECOND: "2" }
  await expect(open({ environment })).rejects.toThrow(/Did you mean MEANWHILE_BACKGROUND_THRESHOLD_SECONDS\?$/)
})

const toRules = (...rules: NonNullable<NonNullable<ConfigInput["permissions"]>["rules"]>): ConfigInput => ({
  permissions: { rules },
})

test("a start names the rules about tools that no plugin has, once each, and what was perhaps meant", async () => {
  const { told } = await open({
    config: toRules(
      { tool: "run_comand", arguments: { command: "rm *" }, decision: "deny" },
      { tool: "run_command", plugin: "shel", decision: "ask" },
      { tool: "Bash", decision: "deny" },
    ),
  })
  expect(told).toEqual([
    'permissions: no tool is called run_comand, so the rule `deny run_comand with command "rm *"` decides nothing. Did you mean run_command?',
    "permissions: shel has no tool run_command, so the rule `ask shel/run_command` decides nothing. It is a tool of shell.",
    "permissions: no tool is called Bash, so the rule `deny Bash` decides nothing.",
  ])
})

test("a start says nothing of rules about tools that are there, or that may come", async () => {
  const later = { kind: "tool", name: "picky", tools: [{ name: "pick" }], modelRequirements: ["gpt-9*"] }
  const { told } = await open({
    config: {
      ...toRules(
        { tool: "run_command", plugin: "sh*", decision: "ask" },
        { tool: "session_describe", decision: "ask" },
        { tool: "start_agent", decision: "ask" },
        { tool: "delete_*", decision: "deny" },
        { tool: "mcp__tracker__create", decision: "ask" },
        { tool: "pick", decision: "ask" },
      ),
      plugins: ["./picky.mjs"],
    },
    files: {
      "picky.mjs": `import { z } from "zod"
        const tool = { name: "pick", description: "Picks.", input: z.object({}), run: () => null }
        export default ${JSON.stringify(later).replace(/\[.*?\]/, "[tool]")}`,
    },
  })
  expect(told).toEqual([expect.stringContaining("gpt-9*")])
})

test("where a plugin could not be loaded, nobody knows which tools are missing", async () => {
  const { told } = await open({
    config: { ...toRules({ tool: "pick", decision: "deny" }), plugins: ["./missing.mjs"] },
  })
  expect(told).toEqual([expect.stringContaining("missing.mjs")])
})
