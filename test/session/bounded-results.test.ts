import { expect, test } from "vitest"
import { z } from "zod"
import type { JsonValue } from "../../src/base/json.ts"
import { showModel, defineTool, type Tool } from "../../src/plugin/tool.ts"
import { eventually } from "../support/eventually.ts"
import { lastSaid, openAgent, resultsOf, resultText } from "../support/session/open-agent.ts"

const LIMIT = 2_000
const PIXELS = "QUJD".repeat(5_000)

const loud: Tool = defineTool({
  name: "loud",
  description: "Fails at length.",
  input: z.object({}),
  run: async () => {
    throw new Error(`begins ${"x".repeat(100_000)} ends`)
  },
})

const many: Tool = defineTool({
  name: "many",
  description: "Answers in many parts.",
  input: z.object({}),
  run: async () =>
    showModel(
      Array.from({ length: 50 }, () => ({ type: "text", text: "y".repeat(1_500) }) as const),
      "many",
    ),
})

const picture: Tool = defineTool({
  name: "picture",
  description: "Takes a picture, slowly.",
  input: z.object({}),
  background: { mode: "always" },
  run: async () =>
    showModel(
      [
        { type: "text", text: "A cat." },
        { type: "file", mediaType: "image/png", source: { data: PIXELS } },
      ],
      "a picture",
    ),
})

test.each([loud, many])("the model sees no more of a result than it may, however it comes: $name", async (tool) => {
  const agent = { toolResultLimitCharacters: LIMIT }
  const { session } = await openAgent([{ calls: [{ tool: tool.name }] }, "ok"], { tools: [tool], agent })
  await session.send("go")
  const text = resultText(resultsOf(session.history())[0])
  expect(text.length).toBeGreaterThan(LIMIT / 2)
  expect(text.length).toBeLessThan(LIMIT + 100)
  expect(text).toContain("characters left out")
  if (tool === many) expect(text).toContain("48 more texts left out")
})

test("a notice of a task that shows pictures names them, and holds none of their data", async () => {
  const { session, runtime, model } = await openAgent([{ calls: [{ tool: "picture" }] }, "ok", "nice"], {
    tools: [picture],
  })
  await session.send("go")
  await eventually(
    "the task ends",
    async () => (await runtime.tasks.list({ statuses: ["completed"] })).items.length === 1,
  )
  await session.send("and?")
  expect(lastSaid(model, -1)).toContain("| A cat.\n| [image/png]\n")
  expect(lastSaid(model, -1)).not.toContain("QUJD")
})

test.each<JsonValue>([
  "text",
  null,
  {},
  [null],
  ["text"],
  [{ type: "text" }],
  [{ type: "text", text: 5 }],
  [{ type: "text", text: "a", metadata: "b" }],
  [{ type: "file", mediaType: "image/png" }],
  [{ type: "file", mediaType: "image/png", source: { data: 5 } }],
  [{ type: "text", text: "a" }, { type: "call" }],
])("plain data under the key of shown content stays plain data, now and in a notice: %j", async (modelContent) => {
  const tools = (["never", "always"] as const).map((mode) =>
    defineTool({
      name: `plain_${mode}`,
      description: "Returns plain data.",
      input: z.object({}),
      background: { mode },
      run: async () => ({ modelContent }),
    }),
  )
  const calls = [{ tool: "plain_never" }, { tool: "plain_always" }]
  const { session, runtime, model } = await openAgent([{ calls }, "ok", "nice"], { tools })
  await session.send("go")
  await eventually(
    "the task ends",
    async () => (await runtime.tasks.list({ statuses: ["completed"] })).items.length === 1,
  )
  const text = JSON.stringify({ modelContent })
  expect(resultText(resultsOf(session.history())[0])).toBe(text)
  expect(await session.send("and?")).toMatchObject({ outcome: "completed" })
  expect(lastSaid(model, -1)).toContain(`| ${text}\n`)
})
