import { expect, test } from "vitest"
import { z } from "zod"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { openAgent } from "../support/session/open-agent.ts"

const TOOLS = 232
const MOST_BYTES_A_TOOL = 1_000

test("a request carries the names, descriptions and schemas of tools, and nothing of their plugins", async () => {
  const tools = Array.from({ length: TOOLS }, (_, index) =>
    defineTool({
      name: `tool_${index}`,
      description: "Looks something up.",
      input: z.object({ query: z.string(), limit: z.number().optional() }),
      run: async () => null,
    }),
  )
  const plugin = definePlugin({ kind: "tool", name: "many", tools, systemInstructions: "A long text. ".repeat(1_000) })
  const { session, model } = await openAgent(["hi"], { plugins: [plugin] })
  await session.send("go")
  const told = model.requests[0]?.tools ?? []
  expect(told).toHaveLength(TOOLS)
  expect(Object.keys(told[0] ?? {})).toEqual(["name", "description", "inputSchema"])
  expect(JSON.stringify(told).length).toBeLessThan(TOOLS * MOST_BYTES_A_TOOL)
  expect(session.tools()).toEqual(told)
})
