import { expect, test } from "vitest"
import { z } from "zod"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import { type BackgroundPolicy, defineTool } from "../../src/plugin/tool.ts"
import { openAgent } from "../support/session/open-agent.ts"

const SENTENCE = /longer than [\d.]+ s goes on in the background as a task/g

function createTools(count: number, background?: BackgroundPolicy) {
  return Array.from({ length: count }, (_, index) =>
    defineTool({
      name: `tool_${index}`,
      description: "Works.",
      input: z.object({}),
      run: () => null,
      ...(background && { background }),
    }),
  )
}

async function requestWith(options: Parameters<typeof openAgent>[1]) {
  const { session, model } = await openAgent(["done"], options)
  await session.send("go")
  const [request] = model.requests
  if (!request) throw new Error("the model was not asked")
  return request
}

test("the sentence about promotion stands once in the system prompt, and in none of 200 descriptions", async () => {
  for (const background of [undefined, { mode: "after" }] as const) {
    const { system, tools } = await requestWith({ tools: createTools(200, background) })
    expect(system.match(SENTENCE)).toEqual(["longer than 10 s goes on in the background as a task"])
    expect(new Set(tools.map(({ description }) => description))).toEqual(new Set(["Works."]))
  }
})

test("the sentence names the configured threshold, and stands once beside the instructions about tasks", async () => {
  const plugins = [createBackgroundPlugin({ thresholdSeconds: 3 })]
  const { system } = await requestWith({ tools: createTools(1), plugins, background: { thresholdSeconds: 3 } })
  expect(system.match(SENTENCE)).toEqual(["longer than 3 s goes on in the background as a task"])
  expect(system.match(/background by itself/g)).toHaveLength(1)
})

test("a model without a tool that moves at the configured threshold is told nothing of one", async () => {
  const { system } = await requestWith({ tools: createTools(1, { mode: "never" }) })
  expect(system).toBe("")
  const own = await requestWith({ tools: createTools(1, { mode: "after", ms: 500 }) })
  expect(own.system).toBe("")
  expect(own.tools[0]?.description).toContain("longer than 500 ms goes on in the background")
})
