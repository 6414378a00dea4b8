import { z } from "zod"
import { defineTool, type Tool } from "../../../src/plugin/tool.ts"

export const add: Tool = defineTool({
  name: "add",
  background: { mode: "never" },
  description: "Adds two numbers.",
  input: z.object({ a: z.number(), b: z.number() }),
  run: async ({ a, b }) => ({ sum: a + b }),
})

export const fail: Tool = defineTool({
  name: "fail",
  description: "Throws.",
  input: z.object({}),
  run: async () => {
    throw new Error("the wheel came off")
  },
})

/** Says what it is told, so that a test can choose what a tool gives back. */
export const say: Tool = defineTool({
  name: "say",
  description: "Says it.",
  input: z.object({ text: z.string() }),
  run: async ({ text }) => text,
})
