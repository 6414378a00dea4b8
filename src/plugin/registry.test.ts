import { describe, expect, it } from "vitest"
import { createManualClock } from "../base/manual-clock.ts"
import type { RegistryChange } from "./registry-state.ts"
import { createRegistry } from "./registry.ts"
import { createTestPlugin, createTestTool } from "../../test/support/plugin/plugin.ts"

describe("registering and exposing", () => {
  it("makes the tools of a registered plugin reachable in one call", async () => {
    const registry = createRegistry()
    await registry.register(createTestPlugin("copy"))
    expect(registry.findTool("copy_it")).toMatchObject({ plugin: "copy", tool: { name: "copy_it" } })
  })

  it("keeps a plugin that is not exposed out of reach", async () => {
    const registry = createRegistry()
    const entry = await registry.register(createTestPlugin("copy"), { expose: false })
    expect(entry.exposure).toBe("hidden")
    expect(registry.tools()).toEqual([])
    expect(() => registry.findTool("copy_it")).toThrow("No plugin with tools is exposed")
    expect(registry.list({ isExposed: false }).map(({ name }) => name)).toEqual(["copy"])
  })

  it("awaits initialize with the configuration before the tools can be reached", async () => {
    const registry = createRegistry()
    const seen: unknown[] = []
    const gate = Promise.withResolvers<void>()
    const plugin = createTestPlugin("copy", {
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
    await registry.register(createTestPlugin("copy", { initialize: () => void initialized++ }), { expose: false })
    await Promise.all([registry.expose("copy"), registry.expose("copy")])
    expect(initialized).toBe(1)
    expect(registry.tools()).toHaveLength(1)
  })

  it("hides the tools of an unexposed plugin before it shuts down", async () => {
    const registry = createRegistry()
    const reachable: number[] = []
    const plugin = createTestPlugin("copy", { shutdown: () => void reachable.push(registry.tools().length) })
    await registry.register(plugin)
    await registry.unexpose("copy")
    expect(reachable).toEqual([0])
    expect((await registry.expose("copy")).exposure).toBe("full")
  })

  it("never lets shutdown and the next initialize overlap", async () => {
    const registry = createRegistry()
    const course: string[] = []
    const plugin = createTestPlugin("copy", {
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

  it("leaves a plugin whose shutdown never ends, shuts the others down, and says so", async () => {
    const clock = createManualClock()
    const registry = createRegistry({ clock })
    const begun = Promise.withResolvers<void>()
    let shutdowns = 0
    await registry.register(createTestPlugin("copy", { shutdown: () => void shutdowns++ }))
    const shutdown = (): Promise<void> => {
      begun.resolve()
      return new Promise(() => undefined)
    }
    await registry.register(createTestPlugin("stuck", { shutdown }))
    const closing = registry.close()
    await begun.promise
    clock.advance(10_000)
    await expect(closing).rejects.toThrow('Plugin "stuck" did not shut down: it took longer than 10 s')
    expect(shutdowns).toBe(1)
  })

  it("hides a plugin whose shutdown fails, and says so", async () => {
    const registry = createRegistry()
    await registry.register(createTestPlugin("copy", { shutdown: () => Promise.reject(new Error("stuck")) }))
    await expect(registry.unexpose("copy")).rejects.toMatchObject({ code: "plugin_unavailable" })
    expect(registry.tools()).toEqual([])
  })

  it("refuses a second plugin of the same name", async () => {
    const registry = createRegistry()
    await registry.register(createTestPlugin("copy"))
    await expect(registry.register(createTestPlugin("copy"))).rejects.toMatchObject({ code: "invalid_input" })
  })

  it("forgets an unregistered plugin, and shuts it down", async () => {
    const registry = createRegistry()
    let shutdowns = 0
    await registry.register(createTestPlugin("copy", { shutdown: () => void shutdowns++ }))
    await registry.unregister("copy")
    expect(shutdowns).toBe(1)
    expect(registry.list()).toEqual([])
    await expect(registry.expose("copy")).rejects.toMatchObject({ code: "not_found" })
  })

  it("suggests the plugin a person may have meant", async () => {
    const registry = createRegistry()
    await registry.register(createTestPlugin("shell"))
    await expect(registry.expose("shel")).rejects.toThrow("Did you mean shell?")
  })

  it("shuts all plugins down when it closes, last first, even when one fails", async () => {
    const registry = createRegistry()
    const course: string[] = []
    await registry.register(createTestPlugin("first", { shutdown: () => void course.push("first") }))
    await registry.register(createTestPlugin("broken", { shutdown: () => Promise.reject(new Error("stuck")) }))
    await registry.register(createTestPlugin("last", { shutdown: () => void course.push("last") }))
    await expect(registry.close()).rejects.toThrow('Plugin "broken" did not shut down: stuck')
    expect(course).toEqual(["last", "first"])
    await expect(registry.register(createTestPlugin("late"))).rejects.toMatchObject({ code: "closed" })
  })

  it("lists plugins of all kinds, or of one", async () => {
    const registry = createRegistry()
    await registry.register(createTestPlugin("copy"))
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
    await registry.register(createTestPlugin("copy"))
    await registry.unexpose("copy")
    leave()
    await registry.expose("copy")
    expect(changes.map(({ type }) => type)).toEqual(["plugin.registered", "plugin.exposed", "plugin.unexposed"])
  })
})

describe("finding a tool", () => {
  it("suggests near names for an unknown tool", async () => {
    const registry = createRegistry()
    await registry.register(
      createTestPlugin("shell", { tools: [createTestTool("run_command"), createTestTool("fetch")] }),
    )
    expect(() => registry.findTool("runCommand")).toThrow('no tool named "runCommand". Did you mean "run_command"?')
    expect(() => registry.findTool("xyzzy")).toThrow('The tools are "fetch", "run_command".')
    expect(() => registry.findTool("fetch", "other")).toThrow('in plugin "other". It is a tool of "shell".')
  })

  it("says that a name is ambiguous, and finds the tool when the plugin is named", async () => {
    const registry = createRegistry()
    await registry.register(createTestPlugin("a", { tools: [createTestTool("search")] }))
    await registry.register(createTestPlugin("b", { tools: [createTestTool("search")] }))
    expect(() => registry.findTool("search")).toThrow('Several plugins have a tool named "search": "a", "b"')
    expect(registry.findTool("search", "b").plugin).toBe("b")
    await registry.unexpose("a")
    expect(registry.findTool("search").plugin).toBe("b")
  })
})
