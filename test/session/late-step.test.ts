import { expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { createScriptedModel, type ScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { interceptCommits } from "../support/intercept-commits.ts"
import { openTestRuntime } from "../support/test-engine.ts"
import { createFolder } from "../support/workplace.ts"

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: z.object({}),
  onCrash: "retry",
  run: async () => "seen",
})

test("a step whose write is refused only once its turn has ended does not break the turn that follows", async () => {
  const begun = Promise.withResolvers<void>()
  const settled = Promise.withResolvers<void>()
  const model: ScriptedModel = createScriptedModel([
    { calls: [{ tool: "look" }, { tool: "look" }] },
    "Seen.",
    async () => {
      begun.resolve()
      await settled.promise
      return "Once more."
    },
  ])
  const runtime = await openTestRuntime({
    dataDirectory: createFolder(),
    model,
    plugins: [definePlugin({ kind: "tool", name: "eyes", tools: [look] })],
  })
  onTestFinished(() => runtime.close())
  let isHeld = false
  interceptCommits(runtime, async (operations, commit) => {
    if (isHeld || !operations.every(({ op }) => op === "step.finish")) return commit(operations)
    isHeld = true
    await begun.promise
    const writing = commit(operations)
    const settle = (): void => void setImmediate(settled.resolve)
    writing.then(settle, settle)
    return writing
  })
  const session = await runtime.createSession()
  expect((await session.send("Look.")).text).toBe("Seen.")
  expect((await session.send("Again.")).text).toBe("Once more.")
  expect(isHeld).toBe(true)
  const stored = await runtime.sessions.load(session.id)
  expect(stored?.messages.at(-1)).toMatchObject({ role: "assistant" })
})
