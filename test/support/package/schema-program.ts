/** A program of somebody who has tools with schemas of zod. The comments are for the compiler: it must refuse the next line. */
export const ZOD_TOOLS = `
import { createRuntime, defineTool, type Tool } from "meanwhile"
import { z } from "zod"

interface Cake {
  readonly name: string
  readonly bakedAt: Date
}

const bake = defineTool({
  name: "bake",
  description: "Bakes.",
  input: z.object({
    cake: z.string().describe("its name"),
    layers: z.number().default(3),
    kind: z.enum(["dark", "light"]).optional(),
    at: z.string().transform((text) => new Date(text)),
  }),
  background: ({ layers }) => (layers > 3 ? { mode: "always" } : { mode: "never" }),
  title: ({ cake }) => cake.toUpperCase(),
  run({ cake, layers, kind, at }): Cake {
    const sum: number = layers
    const one: "dark" | "light" | undefined = kind
    // @ts-expect-error a text is no number
    const wrong: number = cake
    void [sum, one, wrong]
    return { name: cake, bakedAt: at }
  },
})
// @ts-expect-error an input is a schema
defineTool({ name: "none", description: "None.", input: { cake: "string" }, run: () => {} })
const tools: readonly Tool[] = [bake]
export const runtime = createRuntime({ tools })
`

/** The same for the other libraries. */
export const OTHER_TOOLS = `
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import { createRuntime, defineTool } from "meanwhile"
import * as v from "valibot"

const withValibot = defineTool({
  name: "bake",
  description: "Bakes.",
  input: toStandardJsonSchema(v.object({ cake: v.string(), layers: v.optional(v.number(), 3) })),
  run({ cake, layers }) {
    const sum: number = layers
    // @ts-expect-error a text is no number
    const wrong: number = cake
    void [sum, wrong]
  },
})
const withArktype = defineTool({
  name: "taste",
  description: "Tastes.",
  input: type({ cake: "string", "layers?": "number" }),
  async run({ cake, layers }) {
    const sum: number | undefined = layers
    // @ts-expect-error a text is no number
    const wrong: number = cake
    void [sum, wrong]
    return new Set([1])
  },
})
export const runtime = createRuntime({ tools: [withValibot, withArktype] })
`

/** Prints what a model is told of a tool, and what the call came to. */
export const ASKED = `
import { createRuntime, defineTool, definePlugin, textOf } from "meanwhile"
import { createScriptedModel } from "meanwhile/testing"
import { z } from "zod"

const bake = defineTool({
  name: "bake",
  description: "Bakes.",
  input: z.object({ cake: z.string().describe("its name") }),
  run: ({ cake }) => cake + " is golden",
})
definePlugin({ kind: "tool", name: "bakery", tools: [bake] })
const model = createScriptedModel([
  { calls: [{ tool: "bake", input: { cake: "Gugelhupf" } }, { tool: "bake", input: {} }] },
  ({ messages }) => messages.at(-1).parts.map(({ content }) => textOf({ role: "user", parts: content })).join(" / "),
])
await using runtime = await createRuntime({ model, tools: [bake] })
const session = await runtime.createSession()
console.log(JSON.stringify((await session.send("bake")).text))
console.log(JSON.stringify(model.requests[0].tools[0].inputSchema.properties))
`
