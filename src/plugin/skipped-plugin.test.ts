import { describe, expect, it } from "vitest"
import { createRegistry } from "./registry.ts"
import { createTestPlugin } from "../../test/support/plugin/plugin.ts"

describe("skipped plugins", () => {
  it("skips a plugin whose model requirement is not met, with the reason", async () => {
    const registry = createRegistry({ model: "gemini-2.5-flash" })
    const entry = await registry.register(
      createTestPlugin("pictures", { modelRequirements: ["gemini-3-pro*", "gpt-?"] }),
    )
    expect(entry.exposure).toBe("hidden")
    expect(registry.skipped()).toEqual([
      {
        name: "pictures",
        reason: "model_requirement",
        message:
          "The pictures plugin is off: it is for gemini-3-pro*, gpt-?, and not for gemini-2.5-flash. Without it there is no pictures_it.",
      },
    ])
  })

  it("names only the first of many models that a skipped plugin is for", async () => {
    const registry = createRegistry({ model: "lm/x" })
    const modelRequirements = Array.from("abcdefgh", (letter) => `${letter}/*`)
    await registry.register(createTestPlugin("pictures", { modelRequirements, tools: [] }))
    expect(registry.skipped()[0]?.message).toBe(
      "The pictures plugin is off: it is for a/*, b/*, c/*, d/*, e/*, f/* and 2 more, and not for lm/x.",
    )
  })

  it("exposes a plugin whose pattern matches the model, and any plugin while no model is known", async () => {
    for (const registry of [createRegistry({ model: "gemini-3-pro-preview" }), createRegistry()]) {
      await registry.register(createTestPlugin("pictures", { modelRequirements: ["gemini-3-pro*"] }))
      expect(registry.skipped()).toEqual([])
    }
  })

  it("skips a plugin that fails to initialize, and forgets that when it works the next time", async () => {
    const registry = createRegistry()
    let isReady = false
    const initialize = () => {
      if (!isReady) throw new Error("no key")
    }
    await registry.register(createTestPlugin("search", { initialize }))
    expect(registry.skipped()).toMatchObject([
      { reason: "failed_to_initialize", message: expect.stringContaining("no key") as unknown },
    ])
    isReady = true
    await registry.expose("search")
    expect(registry.skipped()).toEqual([])
    expect(registry.tools()).toHaveLength(1)
  })

  it("skips plugins that do not load, have the wrong shape or come twice, and takes the rest", async () => {
    const registry = createRegistry()
    const sources: Record<string, unknown> = {
      "./good.ts": createTestPlugin("good"),
      "./again.ts": createTestPlugin("good"),
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
      createTestPlugin(source, { initialize: (config) => void configs.push(config) })
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
