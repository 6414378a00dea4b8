import { z } from "zod"
import { defineTool } from "../../../src/plugin/tool.ts"
import { eventually } from "../eventually.ts"
import { createGate } from "./gate.ts"
import { openAgent } from "./open-agent.ts"
import { add, fail } from "./test-tools.ts"

/** The number of spans of the turn below and all that it leads to. */
export const SPANS = 17
export const SECRET_WORDS = "the prompt nobody may export"

const delegate = defineTool({
  name: "delegate",
  description: "Hands the work down.",
  kind: "agent",
  input: z.object({}),
  async run(_, { sessions }) {
    const child = await sessions.createChild({ name: "helper" })
    return (await child.send(SECRET_WORDS)).text
  },
})

/** A tool that moves to the background at once and starts a child task there. */
function createSlow() {
  const gate = createGate()
  const slow = defineTool({
    name: "slow",
    description: "Takes long.",
    background: { mode: "after", ms: 1 },
    input: z.object({}),
    async run(_, { tasks }) {
      await gate.pass()
      await tasks.start({ tool: "child", input: {} })
      return SECRET_WORDS
    },
  })
  return { gate, slow }
}

export const child = defineTool({
  name: "child",
  description: "A task below a task.",
  background: { mode: "always" },
  input: z.object({}),
  run: async () => "ended",
})

const script = () => [
  { error: { code: "rate_limited", message: SECRET_WORDS, retryAfterMs: 1 } } as const,
  { calls: [{ tool: "add", input: { a: 1, b: 2 } }, { tool: "slow" }, { tool: "fail" }] },
  { calls: [{ tool: "delegate" }, { tool: "made_up" }] },
  { text: "from below", usage: { cachedInputTokens: 4, reasoningTokens: 2 } },
  "done",
]

export async function takeTurn(isKept: boolean) {
  const { gate, slow } = createSlow()
  const agent = await openAgent(script(), { isKept, tools: [add, fail, slow, delegate, child] })
  const { turn } = await agent.session.send(SECRET_WORDS)
  const { store } = agent.runtime.engine
  gate.open()
  const tasks = await eventually("the tasks end", async () => {
    const { items } = await agent.runtime.tasks.list({ kinds: ["tool"], statuses: ["completed"] })
    return items.length === 2 && items
  })
  return { ...agent, turn, store, tasks }
}
