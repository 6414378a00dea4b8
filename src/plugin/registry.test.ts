import { describe, expect, it } from "vitest"
import { z } from "zod"
import { definePlugin } from "./define-plugin.ts"
import type { RegistryChange } from "./registry-state.ts"
import { createRegistry } from "./registry.ts"
import { defineTool } from "./tool.ts"
import type { ToolPlugin } from "./tool-plugin.ts"

const createTool = (name: string) =>
  defineTool({ name, description: `Does ${name}.`, input: z.object({ text: z.string() }), run: async () => null })

const createPlugin = (name: string, more: Partial<ToolPlugin> = {}) =>
  definePlugin({ kind: "tool", name, tools: [createTool(`${name}_it`)], ...more })

describe("registering and exposing", () => {
  it("makes the tools of a registered plugin reachable in one call", async () => {
    const registry = createRegistry()
    await registry.register(createPlugin("copy"))
    expect(registry.findTool("copy_it")).toMatchObject({ plugin: "copy", tool: { name: "copy_it" } })
  })

  it("keeps a plugin that is not exposed out of reach", async () => {
    const registry = createRegistry()
    const entry = await registry.register(createPlugin("copy"), { expose: false })
    expect(entry.exposure).toBe("hidden")
    expect(registry.tools()).toEqual([])
    expect(() => registry.findTool("copy_it")).toThrow("No plugin with tools is exposed")
    expect(registry.list({ isExposed: false }).map(({ name }) => name)).toEqual(["copy"])
  })

  it("awaits initialize with the configuration before the tools can be reached", async () => {
    const registry = createRegistry()
    const seen: unknown[] = []
    const gate = Promise.withResolvers<void>()
    const plugin = createPlugin("copy", {
      initialize: async (config) => {
        seen.push(config)
        await gate.promise
      },
    })
    await registry.register(plugin, { expose: false })
    const exposing = registry.expose("copy", { depth: 2 })
    await Promise.resolve()
    expect(registry.tools()).toEqual([])
    gate.resolve()
    expect((await exposing).exposure).toBe("full")
    expect(seen).toEqual([{ depth: 2 }])
  })

  it("initializes once when it is exposed twice at the same time", async () => {
    const registry = createRegistry()
    let initialized = 0
    await registry.register(createPlugin("copy", { initialize: () => void initialized++ }), { expose: false })
    await Promise.all([registry.expose("copy"), registry.expose("copy")])
    expect(initialized).toBe(1)
    expect(registry.tools()).toHaveLength(1)
  })

  it("hides the tools of an unexposed plugin before it shuts down", async () => {
    const registry = createRegistry()
    const reachable: number[] = []
    const plugin = createPlugin("copy", { shutdown: () => void reachable.push(registry.tools().length) })
    await registry.register(plugin)
    await registry.unexpose("copy")
    expect(reachable).toEqual([0])
    expect((await registry.expose("copy")).exposure).toBe("full")
  })

  it("lets shutdown and the next initialize never overlap", async () => {
    const registry = createRegistry()
    const course: string[] = []
    const plugin = createPlugin("copy", {
      initialize: () => void course.push("initialize"),
      shutdown: async () => {
        course.push("shutdown begins")
        await Promise.resolve()
        course.push("shutdown ends")
      },
    })
    await registry.register(plugin)
    await Promise.all([registry.unexpose("copy"), registry.expose("copy")])
    expect(course).toEqual(["initialize", "shutdown begins", "shutdown ends", "initialize"])
  })

  it("hides a plugin whose shutdown fails, and says so", async () => {
    const registry = createRegistry()
    await registry.register(createPlugin("copy", { shutdown: () => Promise.reject(new Error("stuck")) }))
    await expect(registry.unexpose("copy")).rejects.toMatchObject({ code: "plugin_unavailable" })
    expect(registry.tools()).toEqual([])
  })

  it("refuses a second plugin of the same name", async () => {
    const registry = createRegistry()
    await registry.register(createPlugin("copy"))
    await expect(registry.register(createPlugin("copy"))).rejects.toMatchObject({ code: "invalid_input" })
  })

  it("forgets an unregistered plugin, and shuts it down", async () => {
    const registry = createRegistry()
    let shutdowns = 0
    await registry.register(createPlugin("copy", { shutdown: () => void shutdowns++ }))
    await registry.unregister("copy")
    expect(shutdowns).toBe(1)
    expect(registry.list()).toEqual([])
    await expect(registry.expose("copy")).rejects.toMatchObject({ code: "not_found" })
  })

  it("suggests the plugin a person may have meant", async () => {
    const registry = createRegistry()
    await registry.register(createPlugin("shell"))
    await expect(registry.expose("shel")).rejects.toThrow("Did you mean shell?")
  })

  it("shuts all plugins down when it closes, last first, even when one fails", async () => {
    const registry = createRegistry()
    const course: string[] = []
    await registry.register(createPlugin("first", { shutdown: () => void course.push("first") }))
    await registry.register(createPlugin("broken", { shutdown: () => Promise.reject(new Error("stuck")) }))
    await registry.register(createPlugin("last", { shutdown: () => void course.push("last") }))
    await expect(registry.close()).rejects.toThrow('Plugin "broken" did not shut down: stuck')
    expect(course).toEqual(["last", "first"])
    await expect(registry.register(createPlugin("late"))).rejects.toMatchObject({ code: "closed" })
  })

  it("lists all four kinds, and one of them", async () => {
    const registry = createRegistry()
    await registry.register(createPlugin("copy"))
    await registry.register({
      kind: "gc",
      name: "truncate",
      shouldCollect: () => ({ isDue: false }),
      collect: (messages) => ({ messages, removedMessages: 0, summary: "" }),
    })
    expect(registry.list().map(({ name }) => name)).toEqual(["copy", "truncate"])
    expect(registry.list({ kind: "gc" }).map(({ name }) => name)).toEqual(["truncate"])
  })

  it("tells its listeners what changed, until they leave", async () => {
    const registry = createRegistry()
    const changes: RegistryChange[] = []
    const leave = registry.onChange((change) => changes.push(change))
    await registry.register(createPlugin("copy"))
    await registry.unexpose("copy")
    leave()
    await registry.expose("copy")
    expect(changes.map(({ type }) => type)).toEqual(["plugin.registered", "plugin.exposed", "plugin.unexposed"])
  })
})

describe("skipped plugins", () => {
  it("skips a plugin whose model requirement is not met, with the reason", async () => {
    const registry = createRegistry({ model: "gemini-2.5-flash" })
    const entry = await registry.register(createPlugin("pictures", { modelRequirements: ["gemini-3-pro*", "gpt-?"] }))
    expect(entry.exposure).toBe("hidden")
    expect(registry.skipped()).toEqual([
      {
        name: "pictures",
        reason: "model_requirement",
        message: 'Plugin "pictures" needs one of gemini-3-pro*, gpt-?; the model is gemini-2.5-flash.',
      },
    ])
  })

  it("exposes a plugin whose pattern matches the model, and any plugin while no model is known", async () => {
    for (const registry of [createRegistry({ model: "gemini-3-pro-preview" }), createRegistry()]) {
      await registry.register(createPlugin("pictures", { modelRequirements: ["gemini-3-pro*"] }))
      expect(registry.skipped()).toEqual([])
    }
  })

  it("skips a plugin that fails to initialize, and forgets that when it works the next time", async () => {
    const registry = createRegistry()
    let isReady = false
    const initialize = () => {
      if (!isReady) throw new Error("no key")
    }
    await registry.register(createPlugin("search", { initialize }))
    expect(registry.skipped()).toMatchObject([
      { reason: "failed_to_initialize", message: expect.stringContaining("no key") as unknown },
    ])
    isReady = true
    await registry.expose("search")
    expect(registry.skipped()).toEqual([])
    expect(registry.tools()).toHaveLength(1)
  })

  it("skips what does not load, has the wrong shape or comes twice, and takes the rest", async () => {
    const registry = createRegistry()
    const sources: Record<string, unknown> = {
      "./good.ts": createPlugin("good"),
      "./again.ts": createPlugin("good"),
      "./shapeless.ts": { kind: "tool" },
    }
    const entries = ["./missing.ts", "./good.ts", "./shapeless.ts", "./again.ts"].map((source) => ({ source }))
    const found = await registry.discover(entries, async ({ source }) => {
      if (!(source in sources)) throw new Error("Cannot find module")
      return sources[source]
    })
    expect(found.map(({ name }) => name)).toEqual(["good"])
    expect(registry.skipped().map(({ name, reason }) => [name, reason])).toEqual([
      ["./missing.ts", "failed_to_load"],
      ["./shapeless.ts", "wrong_shape"],
      ["./again.ts", "duplicate"],
    ])
  })

  it("hands a discovered plugin its configuration and honours expose: false", async () => {
    const registry = createRegistry()
    const configs: unknown[] = []
    const load = async ({ source }: { source: string }) =>
      createPlugin(source, { initialize: (config) => void configs.push(config) })
    await registry.discover(
      [
        { source: "a", config: { key: 1 } },
        { source: "b", expose: false },
      ],
      load,
    )
    expect(configs).toEqual([{ key: 1 }])
    expect(registry.list({ isExposed: true }).map(({ name }) => name)).toEqual(["a"])
  })
})

describe("finding a tool", () => {
  it("suggests near names for an unknown tool", async () => {
    const registry = createRegistry()
    await registry.register(createPlugin("shell", { tools: [createTool("run_command"), createTool("fetch")] }))
    expect(() => registry.findTool("runCommand")).toThrow('no tool named "runCommand". Did you mean "run_command"?')
    expect(() => registry.findTool("xyzzy")).toThrow('The tools are "fetch", "run_command".')
    expect(() => registry.findTool("fetch", "other")).toThrow('in plugin "other". It is a tool of "shell".')
  })

  it("says that a name is ambiguous, and finds the tool when the plugin is named", async () => {
    const registry = createRegistry()
    await registry.register(createPlugin("a", { tools: [createTool("search")] }))
    await registry.register(createPlugin("b", { tools: [createTool("search")] }))
    expect(() => registry.findTool("search")).toThrow('Several plugins have a tool named "search": "a", "b"')
    expect(registry.findTool("search", "b").plugin).toBe("b")
    await registry.unexpose("a")
    expect(registry.findTool("search").plugin).toBe("b")
  })
})

describe("what exposed plugins offer together", () => {
  it("gives tool schemas as JSON Schema with a description that tells the policy", async () => {
    const registry = createRegistry()
    const tool = { ...createTool("build"), background: { mode: "after" } as const }
    await registry.register(createPlugin("builder", { tools: [tool] }))
    expect(registry.toolSchemas({ backgroundThresholdMs: 10_000 })).toEqual([
      {
        plugin: "builder",
        name: "build",
        description: expect.stringContaining("longer than 10 s goes on in the background") as unknown,
        inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
      },
    ])
  })

  it("gathers commands, instructions, approvals, enrichers and hooks of exposed plugins only", async () => {
    const registry = createRegistry()
    const more: Partial<ToolPlugin> = {
      systemInstructions: () => "Copy with care.",
      autoApprovedTools: ["copy_it"],
      userCommands: [{ name: "copies", description: "Lists copies.", run: () => "none" }],
      enrichPrompt: (prompt) => ({ prompt }),
      beforeToolCall: () => ({ decision: "allow" }),
    }
    await registry.register(createPlugin("copy", more))
    expect(registry.userCommands()).toMatchObject([
      { plugin: "copy", command: { name: "copies", shareWithModel: false } },
    ])
    expect(registry.systemInstructions()).toEqual([{ plugin: "copy", text: "Copy with care." }])
    expect(registry.autoApprovedTools()).toEqual([{ plugin: "copy", tool: "copy_it" }])
    expect(registry.promptEnrichers().map(({ plugin }) => plugin)).toEqual(["copy"])
    expect(registry.toolHooks()).toHaveLength(1)
    await registry.unexpose("copy")
    const left = [
      registry.userCommands(),
      registry.systemInstructions(),
      registry.autoApprovedTools(),
      registry.promptEnrichers(),
      registry.toolHooks(),
    ]
    expect(left).toEqual([[], [], [], [], []])
  })

  it("takes only the enrichment of a plugin exposed for enrichment", async () => {
    const registry = createRegistry()
    const plugin = createPlugin("notes", { enrichPrompt: (prompt) => ({ prompt }), systemInstructions: "Take notes." })
    await registry.register(plugin, { expose: "enrichment" })
    expect(registry.promptEnrichers()).toHaveLength(1)
    expect(registry.tools()).toEqual([])
    expect(registry.systemInstructions()).toEqual([])
    await registry.expose("notes")
    expect(registry.tools()).toHaveLength(1)
  })
})
