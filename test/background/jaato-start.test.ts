import { expect, test } from "vitest"
import { createGatedTool, echo } from "../support/tools.ts"
import { add } from "../support/session/test-tools.ts"
import { call, createGatedCommand, openBackground } from "../support/background/open-background.ts"

const BUILD = { plugin_name: "cli", tool_name: "runCommand", arguments: { name: "npm ci" } }

async function openTools() {
  const { session } = await openBackground([])
  return new Map(session.tools().map((tool) => [tool.name, tool]))
}

test("000-37: startBackgroundTask takes plugin, tool, arguments and a time limit, and the plugin may be left out", async () => {
  const tool = (await openTools()).get("startBackgroundTask")
  expect(tool?.inputSchema).toMatchObject({
    properties: {
      plugin_name: { type: "string", description: "Name of the plugin providing the tool" },
      tool_name: { type: "string", description: "Name of the tool to execute" },
      arguments: { type: "object", description: "Arguments to pass to the tool" },
      timeout_seconds: { type: "number", description: "Optional timeout in seconds" },
    },
    required: ["tool_name", "arguments"],
  })
})

test("000-38: its description says when to use it, and that the result comes by itself", async () => {
  const description = (await openTools()).get("startBackgroundTask")?.description
  expect(description).toContain("Start a tool execution in the background.")
  expect(description).toContain("Use this when you anticipate a tool call will take significant time")
  expect(description).toContain("Returns a task_id.")
  expect(description).toContain("comes back to you by itself")
})

test("000-44: a start answers at once with the task, its tool, what it is expected to take, and a message", async () => {
  const gated = createGatedCommand({ estimateMs: () => 30_000 })
  const agent = await openBackground([call("startBackgroundTask", BUILD), "It runs."], { shell: [gated.tool] })
  await agent.session.send("install")
  const { id } = await agent.task(1)
  expect(agent.answers()).toEqual([
    {
      success: true,
      task_id: id,
      plugin_name: "cli",
      tool_name: "runCommand",
      estimated_duration_seconds: 30,
      message: `Task started in background. It is stopped when it has run for 300 s. Its result comes back by itself; task_id '${id}' is for looking at it or cancelling it.`,
    },
  ])
  expect(id).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
})

test("000-49: cli and runCommand are other names of shell and run_command, and both are taken", async () => {
  const gated = createGatedCommand()
  const names = [
    { plugin_name: "cli", tool_name: "runCommand" },
    { plugin_name: "shell", tool_name: "run_command" },
    { tool_name: "runCommand" },
    { tool_name: "run_command" },
  ]
  const calls = names.map((name, index) => ({
    tool: "startBackgroundTask",
    input: { ...name, arguments: { name: `command ${index}` } },
  }))
  const agent = await openBackground([{ calls }, "All run."], { shell: [gated.tool] })
  await agent.session.send("go")
  for (const answer of agent.answers()) {
    expect(answer).toMatchObject({ success: true, plugin_name: "cli", tool_name: "runCommand" })
  }
  const started = await Promise.all(names.map((_, index) => agent.task(index + 1)))
  expect(new Set(started.map(({ plugin, tool }) => `${plugin}/${tool}`))).toEqual(new Set(["shell/run_command"]))
})

test("000-45: a plugin that cannot is refused, and the ones that can are listed", async () => {
  const script = [call("startBackgroundTask", { ...BUILD, plugin_name: "todo" }), "Oh."]
  const agent = await openBackground(script, { shell: [createGatedCommand().tool], tools: [echo, add] })
  await agent.session.send("go")
  expect(agent.answers()).toEqual([
    {
      success: false,
      error: "Plugin 'todo' does not support background execution. Capable plugins: ['test', 'cli']",
    },
  ])
})

test("000-46: a tool that cannot is refused, and nothing is started", async () => {
  const input = { plugin_name: "test", tool_name: "add", arguments: { a: 1, b: 2 } }
  const agent = await openBackground([call("startBackgroundTask", input), "Oh."], { tools: [echo, add] })
  await agent.session.send("go")
  expect(agent.answers()).toEqual([
    { success: false, error: "Tool 'add' in plugin 'test' does not support background execution" },
  ])
  expect((await agent.runtime.tasks.list({ kinds: ["tool"] })).items).toEqual([])
})

test("000-21: a start that cannot be made answers with the reason", async () => {
  const input = { tool_name: "gated", arguments: { name: 7 } }
  const agent = await openBackground([call("startBackgroundTask", input), "Oh."], {
    tools: [createGatedTool().tool],
  })
  await agent.session.send("go")
  expect(agent.answers()).toMatchObject([{ success: false, error: expect.stringContaining("name") }])
})

test("a start may name a lifetime, and 0 seconds for no limit, which its message then does not name", async () => {
  const gated = createGatedCommand()
  const input = { ...BUILD, timeout_seconds: 0, lifetime: "session" }
  const agent = await openBackground([call("startBackgroundTask", input), "It runs."], { shell: [gated.tool] })
  await agent.session.send("install")
  expect(await agent.task(1)).toMatchObject({ lifetime: "session", limits: { timeoutMs: null } })
  expect(agent.answers()[0]?.["message"]).toMatch(/^Task started in background\. Its result/)
})
