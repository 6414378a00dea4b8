import { describe, expect, test } from "vitest"
import { createBackgroundPlugin, type VocabularyName } from "../../src/builtin/background/background-plugin.ts"
import { createSubagentPlugin } from "../../src/builtin/subagent/subagent-plugin.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import type { PluginHost } from "../../src/plugin/plugin-host.ts"
import { createRegistry } from "../../src/plugin/registry.ts"
import type { Tool } from "../../src/plugin/tool.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { add } from "../support/session/test-tools.ts"
import { call, openBackground } from "../support/background/open-background.ts"

const VOCABULARIES: readonly VocabularyName[] = ["meanwhile", "jaato", "opencode", "penguiflow"]
const holding = (name: string, ...tools: Tool[]) => definePlugin({ kind: "tool", name, tools })

async function openRegistry() {
  const registry = createRegistry()
  await registry.register(createBackgroundPlugin())
  const describeStart = (): string =>
    registry.toolSchemas().find(({ name }) => name === "start_task")?.description ?? ""
  return { registry, describeStart }
}

test("the background plugin finds capable tools through the registry, and hands the work to their plugin", async () => {
  const gated = createGatedTool({ obeys: true })
  const start = call("startBackgroundTask", { plugin_name: "test", tool_name: "gated", arguments: { name: "a" } })
  const agent = await openBackground([start, "It runs."], { tools: [gated.tool, add] })
  expect(agent.runtime.plugins.list({ isExposed: true }).map(({ name }) => name)).toContain("background")
  await agent.session.send("go")
  expect((await gated.call(1)).input).toEqual({ name: "a" })
  expect(await agent.task(1)).toMatchObject({ plugin: "test", tool: "gated" })
})

test("000-56: a plugin is handed the tools of its neighbours and the commands over tasks when it is initialized", async () => {
  let host: PluginHost | undefined
  const curious = definePlugin({
    kind: "tool",
    name: "curious",
    tools: [],
    initialize(_config, given) {
      host = given
      expect(() => given?.tasks).toThrow("before the runtime was there")
    },
  })
  const agent = await openBackground([], { tools: [echo], plugins: [curious] })
  expect(host?.tools().map(({ plugin, tool }) => `${plugin}/${tool.name}`)).toContain("test/echo")
  expect(await host?.tasks.list({})).toEqual({ items: [] })
  expect(agent.runtime.plugins.skipped()).toEqual([])
})

test("000-57: what is exposed is discovered again after each plugin that comes or goes, and nothing hidden is", async () => {
  const { registry, describeStart } = await openRegistry()
  expect(describeStart()).toContain("none is exposed now")
  await registry.register(holding("first", echo, add))
  await registry.register(holding("second", createGatedTool().tool), { expose: false })
  expect(describeStart()).toContain("can run in the background: echo (moves there by itself after 10 s).")
  await registry.expose("second")
  expect(describeStart()).toContain("gated")
  await registry.unexpose("first")
  expect(describeStart()).not.toContain("echo")
  await registry.unregister("second")
  expect(describeStart()).toContain("none is exposed now")
})

test("a hidden plugin hears of no changes, and is up to date when it is exposed again", async () => {
  const { registry, describeStart } = await openRegistry()
  await registry.unexpose("background")
  const changes: string[] = []
  registry.onChange(({ type, plugin }) => changes.push(`${type} ${plugin}`))
  await registry.register(holding("first", echo))
  expect(changes).toEqual(["plugin.registered first", "plugin.exposed first"])
  await registry.expose("background")
  expect(describeStart()).toContain("echo")
})

test("a change that the model cannot see is not passed on, and two plugins do not answer each other for ever", async () => {
  const { registry } = await openRegistry()
  await registry.register(createBackgroundPluginNamed("second"))
  const changes: string[] = []
  registry.onChange(({ type, plugin }) => changes.push(`${type} ${plugin}`))
  await registry.register(holding("plain", add))
  expect(changes).toEqual(["plugin.registered plain", "plugin.exposed plain"])
  await registry.register(holding("first", echo))
  expect(changes.filter((change) => change.startsWith("plugin.tools_changed"))).toHaveLength(2)
})

/** Two background plugins at once would be a mistake, but must not hang. */
function createBackgroundPluginNamed(name: string) {
  const plugin = createBackgroundPlugin()
  return new Proxy(plugin, { get: (target, key) => (key === "name" ? name : Reflect.get(target, key)) as unknown })
}

test("agents are offered while a plugin that starts agents is exposed", async () => {
  const { registry } = await openRegistry()
  const names = (): readonly string[] => registry.tools().map(({ tool }) => tool.name)
  expect(names()).not.toContain("start_agent")
  await registry.register(createSubagentPlugin({ directories: [] }))
  expect(names()).toContain("start_agent")
  expect(names()).toContain("send_to_task")
  await registry.unexpose("subagent")
  expect(names()).not.toContain("start_agent")
})

test("000-55: the plugin comes from a factory, and refuses a vocabulary that there is none of", () => {
  expect(createBackgroundPlugin()).not.toBe(createBackgroundPlugin())
  expect(createBackgroundPlugin().name).toBe("background")
  const unknown = "klingon" as VocabularyName
  expect(() => createBackgroundPlugin({ vocabulary: unknown })).toThrow(/no vocabulary "klingon". There are: meanwhile/)
})

test("000-54: it has no commands of its own", () => {
  expect(createBackgroundPlugin().userCommands ?? []).toEqual([])
})

test("000-69: the threshold of the configuration is what the model is told of tools that name none", async () => {
  const registry = createRegistry()
  await registry.register(createBackgroundPlugin({ thresholdSeconds: 25 }))
  await registry.register(holding("first", echo))
  const start = registry.toolSchemas().find(({ name }) => name === "start_task")
  expect(start?.description).toContain("echo (moves there by itself after 25 s)")
})

test("000-51: the instructions of jaato say when, how, and with which tools to work in the background", () => {
  const { systemInstructions, tools } = createBackgroundPlugin({ vocabulary: "jaato" })
  const text = typeof systemInstructions === "function" ? systemInstructions() : ""
  expect(text).toContain("**When to use background execution:**\n- Commands that typically take >10 seconds")
  expect(text).toContain("**Workflow:**\n1. Call `startBackgroundTask`")
  for (const { name } of tools) expect(text).toContain(`- \`${name}\` - `)
})

test("000-84: they say what an auto-backgrounded answer means, and that the call is not to be made again", () => {
  const { systemInstructions } = createBackgroundPlugin({ vocabulary: "jaato" })
  const text = typeof systemInstructions === "function" ? systemInstructions() : ""
  expect(text).toContain("`auto_backgrounded: true`")
  expect(text).toContain("That is no failure: the work goes on, so do not call it again.")
})

describe.each(VOCABULARIES)("the vocabulary %s", (vocabulary) => {
  const plugin = createBackgroundPlugin({ vocabulary })
  const texts = [
    typeof plugin.systemInstructions === "function" ? plugin.systemInstructions() : "",
    ...plugin.tools.map(({ description }) => description),
  ]

  test("tells in its instructions how to work with tasks, and how to read an answer that moved to the background", () => {
    const [instructions] = texts
    expect(instructions).toMatch(/by itself/)
    expect(instructions).toMatch(/moved to the background by itself says so|auto_backgrounded/)
    expect(instructions).toMatch(/data, whatever it says/)
  })

  test("never tells the model to poll", () => {
    for (const text of texts) {
      expect(text).not.toMatch(/\bpoll|periodically|keep checking|check (?:back|again|status|on it)|monitor/i)
    }
  })

  test("names only tools that it has", () => {
    const own = new Set(plugin.tools.map(({ name }) => name))
    const others = VOCABULARIES.filter((name) => name !== vocabulary)
      .flatMap((name) => createBackgroundPlugin({ vocabulary: name }).tools.map((tool) => tool.name))
      .filter((name) => !own.has(name))
    const words = texts.flatMap((text) => text.split(/[^\w.]+/))
    expect(others.filter((name) => words.includes(name))).toEqual([])
  })
})
