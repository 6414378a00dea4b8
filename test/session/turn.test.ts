import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { createRuntime, type RuntimeOptions } from "../../src/app.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { textOf } from "../../src/plugin/message.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { createFolder } from "../support/workplace.ts"

const add = defineTool({
  name: "add",
  description: "Adds two numbers.",
  input: z.object({ a: z.number(), b: z.number() }),
  run: async ({ a, b }) => ({ sum: a + b }),
})

async function open(options: RuntimeOptions) {
  const runtime = await createRuntime({
    plugins: [definePlugin({ kind: "tool", name: "sums", tools: [add] })],
    ...options,
  })
  onTestFinished(() => runtime.close())
  return runtime
}

for (const isKept of [true, false]) {
  test(`a turn asks the model, runs what it calls and asks again (${isKept ? "kept" : "in memory"})`, async () => {
    const model = createScriptedModel([
      {
        text: "Let me add.",
        calls: [
          { tool: "add", input: { a: 1, b: 2 } },
          { tool: "add", input: { a: 3, b: 4 } },
        ],
      },
      "The sums are 3 and 7.",
    ])
    const runtime = await open({ model, ...(isKept && { dataDirectory: join(createFolder(), "data") }) })
    const session = await runtime.createSession()
    const said: string[] = []
    const { text, outcome, accounting } = await session.send("Add.", {
      onOutput: (source, chunk, mode) => said.push(`${source} ${mode} ${chunk}`),
    })
    expect(outcome).toBe("completed")
    expect(text).toBe("The sums are 3 and 7.")
    expect(said).toEqual(["model write Let me add.", "model write The sums are 3 and 7."])
    expect(accounting).toMatchObject({ modelCalls: 2, toolCalls: 2, usage: { inputTokens: 20, outputTokens: 10 } })
    expect(session.history().map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"])
    const results = session.history()[2]
    expect(results?.parts.map((part) => (part.type === "result" ? part.content : null))).toEqual([
      [{ type: "text", text: '{"sum":3}' }],
      [{ type: "text", text: '{"sum":7}' }],
    ])
    expect(model.requests[1]?.messages).toEqual(session.history().slice(0, 3))
    if (!isKept) return
    const again = await runtime.sessions.load(session.id)
    expect(again?.messages).toEqual(session.history())
    expect(textOf(again!.messages.at(-1)!)).toBe(text)
  })
}
