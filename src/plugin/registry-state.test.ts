import { describe, expect, it } from "vitest"
import { createRegistry } from "./registry.ts"
import type { ToolPlugin } from "./tool-plugin.ts"
import { createTestPlugin, createTestTool } from "../../test/support/plugin/plugin.ts"

describe("what exposed plugins offer together", () => {
  it("gives tool schemas as JSON Schema with a description that tells the policy", async () => {
    const registry = createRegistry()
    const tool = { ...createTestTool("build"), background: { mode: "after", ms: 2_500 } as const }
    await registry.register(createTestPlugin("builder", { tools: [tool] }))
    expect(registry.toolSchemas()).toEqual([
      {
        plugin: "builder",
        name: "build",
        description: expect.stringContaining("longer than 2.5 s goes on in the background") as unknown,
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
    await registry.register(createTestPlugin("copy", more))
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
    const plugin = createTestPlugin("notes", {
      enrichPrompt: (prompt) => ({ prompt }),
      systemInstructions: "Take notes.",
    })
    await registry.register(plugin, { expose: "enrichment" })
    expect(registry.promptEnrichers()).toHaveLength(1)
    expect(registry.tools()).toEqual([])
    expect(registry.systemInstructions()).toEqual([])
    await registry.expose("notes")
    expect(registry.tools()).toHaveLength(1)
  })
})
