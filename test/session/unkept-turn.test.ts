import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { z } from "zod"
import { MeanwhileError } from "../../src/base/error.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { textOf } from "../../src/plugin/message.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { eventually } from "../support/eventually.ts"
import { interceptCommits } from "../support/intercept-commits.ts"
import { openTestRuntime } from "../support/test-engine.ts"
import { createFolder } from "../support/workplace.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"

const look = defineTool({
  name: "look",
  description: "Looks.",
  input: z.object({}),
  onCrash: "retry",
  run: async () => "seen",
})

for (const first of [2, 3, 4]) {
  test(`a turn that a full disk cuts off at commit ${first}, until the program is left, goes on at the next start`, async () => {
    const dataDirectory = join(createFolder(), "data")
    const plugins = [definePlugin({ kind: "tool", name: "eyes", tools: [look] })]
    const model = createScriptedModel([{ calls: [{ tool: "look" }] }, "Seen."])
    const runtime = await openTestRuntime({ dataDirectory, model, plugins })
    const refused = Promise.withResolvers<void>()
    let commits = 0
    interceptCommits(runtime, (operations, commit) => {
      const isOfTurn = operations.some(({ op }) => op === "session.update" || op.startsWith("step."))
      if (isOfTurn) commits += 1
      if (commits < first || operations.some(({ op }) => op.startsWith("lease."))) return commit(operations)
      refused.resolve()
      return Promise.reject(new MeanwhileError("disk_full", "The disk is full."))
    })
    const session = await runtime.createSession()
    const sent = session.send("Look.").catch((error: unknown) => error)
    await refused.promise
    await runtime.close().catch(() => {})
    await sent
    const again = createScriptedModel(
      [{ calls: [{ tool: "look" }] }, "Seen again.", "Once more."].slice(first > 2 ? 1 : 0),
    )
    const next = await openTestRuntime({ dataDirectory, model: again, plugins })
    onTestFinished(() => next.close())
    await eventually("the turn has ended", async () => {
      const { items } = await next.tasks.list({ session: session.id, kinds: ["turn"] })
      return items[0]?.status === "completed"
    })
    const history = (await next.sessions.load(session.id))?.messages ?? []
    expect(findHistoryProblems(history)).toEqual([])
    expect(history.map(textOf).at(-1)).toBe("Seen again.")
  })
}
