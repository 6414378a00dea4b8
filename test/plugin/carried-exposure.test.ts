import { describe, expect, test } from "vitest"
import { backgroundCapable } from "../../src/plugin/background-adapter.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { createRegistry } from "../../src/plugin/registry.ts"
import { openBackground } from "../support/background/open-background.ts"
import { createRenderFarm } from "../support/render-farm.ts"
import { echo } from "../support/tools.ts"

describe("exposing a plugin that runs its work elsewhere", () => {
  test("that does not say what its tools can do is skipped with the reason, and exposed when it does", async () => {
    let isAway = true
    const registry = createRegistry()
    const plugin = createRenderFarm().connect({
      async supportsBackground() {
        if (isAway) throw new Error("the farm does not answer")
        return true
      },
    })
    await registry.register(plugin)
    expect(registry.skipped()).toMatchObject([{ name: "farm", message: expect.stringContaining("does not answer") }])
    expect(registry.tools()).toEqual([])
    isAway = false
    await registry.expose("farm")
    expect(registry.findTool("render").tool.background).toEqual({ mode: "after", ms: 5_000 })
  })

  test("that names an impossible threshold is skipped, and the message names the tool", async () => {
    const registry = createRegistry()
    await registry.register(createRenderFarm().connect({ autoBackgroundThreshold: async () => Number.NaN }))
    expect(registry.skipped()).toMatchObject([{ message: expect.stringContaining("render leaves the foreground") }])
  })

  test("asks again when its tools have changed, and tells its neighbours then", async () => {
    let seconds = 5
    const registry = createRegistry()
    await registry.register(createRenderFarm().connect({ autoBackgroundThreshold: async () => seconds }))
    const changed = Promise.withResolvers<void>()
    registry.onChange(({ type }) => type === "plugin.tools_changed" && changed.resolve())
    seconds = 9
    registry.refreshTools("farm")
    await changed.promise
    expect(registry.findTool("render").tool.background).toEqual({ mode: "after", ms: 9_000 })
    expect(registry.tools()).toHaveLength(2)
  })

  test("leaves a plugin whose contract is over our own tasks as it is", async () => {
    const agent = await openBackground([])
    const plugin = definePlugin({ kind: "tool", name: "local", tools: [echo] })
    await agent.runtime.plugins.register(backgroundCapable(plugin, agent.runtime.tasks))
    expect(agent.runtime.plugins.findTool("echo", "local").tool).toBe(echo)
  })
})
