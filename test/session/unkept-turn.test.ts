import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { MeanwhileError } from "../../src/base/error.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { interceptCommits } from "../support/intercept-commits.ts"
import { openTestRuntime } from "../support/test-engine.ts"
import { createFolder } from "../support/workplace.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: z.object({}),
  run: async () => "seen",
})

for (const failing of [2, 3]) {
  test(`a turn whose commit ${failing} is refused by the disk fails clearly, and the conversation goes on`, async () => {
    const model = createScriptedModel([{ calls: [{ tool: "look" }] }, "Seen.", "Again.", "Once more."])
    const plugins = [definePlugin({ kind: "tool", name: "eyes", tools: [look] })]
    const runtime = await openTestRuntime({ dataDirectory: join(createFolder(), "data"), model, plugins })
    onTestFinished(() => runtime.close())
    let commits = 0
    interceptCommits(runtime, (operations, commit) => {
      const isOfTurn = operations.some(({ op }) => op === "session.update" || op.startsWith("step."))
      if (isOfTurn && ++commits === failing) {
        return Promise.reject(new MeanwhileError("disk_full", "The disk is full."))
      }
      return commit(operations)
    })
    const session = await runtime.createSession()
    await expect(session.send("Look.")).rejects.toMatchObject({ name: "MeanwhileError" })
    const { items } = await runtime.tasks.list({ session: session.id, kinds: ["turn"] })
    expect(items).toMatchObject([{ status: "failed" }])
    await session.send("And now?")
    expect(findHistoryProblems(session.history())).toEqual([])
    expect((await runtime.sessions.load(session.id))?.messages).toEqual(session.history())
  })
}
