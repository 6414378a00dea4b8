import { expect, test } from "vitest"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import { createGatedTool } from "../support/tools.ts"
import { lastSaid, openAgent, resultsOf, resultText } from "../support/session/open-agent.ts"

test("004-48: the model starts a tool in the background, talks on, sees how it stands, and is told its end by itself", async () => {
  const gated = createGatedTool({ obeys: true })
  const agent = await openAgent(
    [
      { calls: [{ tool: "start_task", input: { tool: "gated", input: { name: "tests" } } }] },
      "The tests run.",
      { calls: [{ tool: "list_tasks" }] },
      "Still.",
      "They passed.",
    ],
    { isKept: true, tools: [gated.tool], plugins: [createBackgroundPlugin()] },
  )
  const { session, model } = agent
  expect((await session.send("run the tests")).text).toBe("The tests run.")
  expect((await session.send("and?")).text).toBe("Still.")
  expect(resultText(resultsOf(session.history()).at(-1))).toContain('"status":"running"')
  const tests = await gated.call(1)
  tests.finish("40 passed")
  const { items } = await agent.runtime.tasks.list({ session: session.id, kinds: ["tool"] })
  await agent.runtime.tasks.result(items[0]?.id ?? "", { waitMs: 30_000 })
  await session.send("and now?")
  expect(lastSaid(model, -1)).toContain("40 passed")
})
