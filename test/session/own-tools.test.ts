import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import * as v from "valibot"
import { expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { z as oldest } from "zod-oldest"
import { createRuntime } from "../../src/app.ts"
import type { Script } from "../../src/builtin/scripted/script.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { defineTool, type Tool } from "../../src/plugin/tool.ts"
import { resultsOf, resultText } from "../support/session/open-agent.ts"

async function open(script: Script, tools: readonly Tool[]) {
  const model = createScriptedModel(script)
  const runtime = await createRuntime({ model, tools })
  onTestFinished(() => runtime.close())
  return { model, runtime, session: await runtime.createSession() }
}

const bake = defineTool({
  name: "bake",
  description: "Bakes a cake.",
  input: z.object({ cake: z.string() }),
  run: ({ cake }) => `${cake} is golden`,
})

test("a runtime takes tools without a plugin", async () => {
  const calls = [{ tool: "bake", input: { cake: "Gugelhupf" } }]
  const { session, runtime } = await open([{ calls }, "done"], [bake])
  expect((await session.send("bake")).text).toBe("done")
  expect(resultsOf(session.history()).map(resultText)).toEqual(["Gugelhupf is golden"])
  expect(runtime.plugins.findTool("bake").plugin).toBe("tools")
})

test("a runtime without a plugin refuses a tool that is none, and opens nothing", async () => {
  const wrong = { ...bake, name: "bake a cake" }
  await expect(createRuntime({ tools: [wrong] })).rejects.toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("tools.0.name"),
  })
})

const SIZE = { size: "number" } as const
const TOOLS = {
  zod: defineTool({
    name: "measure",
    description: "Measures.",
    input: z.object({ size: z.number() }),
    run: ({ size }) => ({ twice: size * 2 }),
  }),
  "the oldest zod 4": defineTool({
    name: "measure",
    description: "Measures.",
    input: oldest.object({ size: oldest.number() }),
    run: ({ size }) => ({ twice: size * 2 }),
  }),
  valibot: defineTool({
    name: "measure",
    description: "Measures.",
    input: toStandardJsonSchema(v.object({ size: v.number() })),
    run: ({ size }) => ({ twice: size * 2 }),
  }),
  arktype: defineTool({
    name: "measure",
    description: "Measures.",
    input: type(SIZE),
    run: ({ size }) => ({ twice: size * 2 }),
  }),
}

test.each(Object.entries(TOOLS))(
  "a tool whose input is a schema of %s is offered, checked and called",
  async (_, tool) => {
    const calls = [
      { tool: "measure", input: { size: 4 }, id: "well" },
      { tool: "measure", input: { size: "big" }, id: "wrong" },
    ]
    const { session, model } = await open([{ calls }, "done"], [tool])
    await session.send("measure")
    const [offered] = model.requests[0]?.tools ?? []
    expect(offered?.inputSchema).toMatchObject({
      type: "object",
      properties: { size: { type: "number" } },
      required: ["size"],
    })
    const [well, wrong] = resultsOf(session.history())
    expect(well && resultText(well)).toBe('{"twice":8}')
    expect(wrong).toMatchObject({ isError: true })
    expect(wrong && resultText(wrong)).toMatch(/^The arguments of measure are not valid\.\n✖ .+\n {2}→ at size$/)
  },
)
