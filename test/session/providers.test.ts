import { LLMock } from "@copilotkit/aimock"
import { expect, onTestFinished, test } from "vitest"
import { createRuntime } from "../../src/app.ts"
import type { RuntimeOptions } from "../../src/app.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { resultsOf, resultText } from "../support/session/open-agent.ts"
import { add } from "../support/session/test-tools.ts"

const KEY = "test-key-0123456789abcdef"
const sums = definePlugin({ kind: "tool", name: "sums", tools: [add] })

interface Row {
  readonly name: string
  readonly model: string
  readonly settings: (origin: string) => Pick<RuntimeOptions, "providers" | "environment">
}

const ROWS: readonly Row[] = [
  {
    name: "004-40: the google provider",
    model: "google/gemini-2.5-flash",
    settings: (origin) => ({
      environment: { GEMINI_API_KEY: KEY },
      providers: { google: { baseUrl: `${origin}/v1beta` } },
    }),
  },
  {
    name: "004-41: the anthropic provider",
    model: "anthropic/claude-sonnet-4-5",
    settings: (origin) => ({
      environment: { ANTHROPIC_API_KEY: KEY },
      providers: { anthropic: { baseUrl: `${origin}/v1` } },
    }),
  },
  {
    name: "004-09: Vertex AI, connected with project and location,",
    model: "vertex/gemini-2.5-flash",
    settings: (origin) => ({
      environment: { GOOGLE_VERTEX_API_KEY: KEY },
      providers: { vertex: { project: "my-gcp-project", location: "us-central1", baseUrl: `${origin}/v1beta` } },
    }),
  },
]

test.each(ROWS)(
  "$name answers a session over its own wire, with a tool call in between",
  async ({ model, settings }) => {
    const mock = new LLMock({ port: 0, host: "127.0.0.1" })
    await mock.start()
    onTestFinished(() => mock.stop())
    const call = { name: "add", arguments: JSON.stringify({ a: 1, b: 2 }) }
    mock.on({ userMessage: "Add 1 and 2.", hasToolResult: false }, { toolCalls: [call] })
    mock.on({ hasToolResult: true }, { content: "Three." })
    const runtime = await createRuntime({ model, plugins: [sums], ...settings(mock.url) })
    onTestFinished(() => runtime.close())
    const session = await runtime.createSession()
    expect((await session.send("Add 1 and 2.")).text).toBe("Three.")
    expect(session.model).toBe(model)
    expect(resultsOf(session.history()).map(resultText)).toEqual(['{"sum":3}'])
    expect(JSON.stringify([session.history(), runtime.ledger.toJsonl()])).not.toContain(KEY)
  },
)
