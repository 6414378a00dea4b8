import { z } from "zod"
import { definePlugin } from "../../../src/plugin/define-plugin.ts"
import { defineTool } from "../../../src/plugin/tool.ts"
import type { ToolPlugin } from "../../../src/plugin/tool-plugin.ts"

export const createTestTool = (name: string) =>
  defineTool({ name, description: `Does ${name}.`, input: z.object({ text: z.string() }), run: async () => null })

export const createTestPlugin = (name: string, more: Partial<ToolPlugin> = {}) =>
  definePlugin({ kind: "tool", name, tools: [createTestTool(`${name}_it`)], ...more })
