import { expect, test } from "vitest"
import { z } from "zod"
import type { JsonObject } from "../../src/base/json.ts"
import { createBackgroundPlugin } from "../../src/builtin/background/background-plugin.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { allowAll } from "../../src/runner/admit/permission.ts"
import { call, lastAnswer } from "../support/background/open-background.ts"
import { openSubagents, requestsOf, WORKER } from "../support/session/open-subagents.ts"
import { endOf, startAgent } from "../support/session/start-agent.ts"
import { eventually } from "../support/eventually.ts"

const ask = defineTool({
  name: "ask",
  description: "Asks.",
  input: z.object({}),
  async run(_input, { person }) {
    const answer = await person.ask({ kind: "text", text: "Which one?" })
    return answer.isAnswered ? answer.value : answer.reason
  },
})

test.each([
  ["by its id", {}, ({ task_id }: JsonObject) => ({ tasks: [task_id ?? ""] })],
  ["in a group", { group: "choices" }, () => ({ group: "choices" })],
] as const)(
  "C18. With one slot, an agent that waits for a child and is asked by it does not deadlock (%s)",
  async (_, more, toWait) => {
    const opened = await openSubagents({
      main: [call("ask"), "The red one."],
      below: [
        call("start_agent", { task: "Choose.", profile: "helper", ...more }),
        (request) => call("wait_for", { ...toWait(lastAnswer(request)), limit_seconds: 3_600 }),
        (request) => `It waits for somebody: ${JSON.stringify(lastAnswer(request)["reason"])}.`,
        "It is the red one.",
      ],
      profiles: [WORKER, { ...WORKER, name: "helper", model: "script/main" }],
      tools: [ask],
      plugins: [createBackgroundPlugin()],
      background: { maxConcurrentTasks: 1 },
      permissions: allowAll,
    })
    const { runtime, provider } = opened
    const agent = await startAgent(opened)
    const wait = await eventually("it asks", async () => (await runtime.engine.store.waits({ isOpen: true }))[0])
    await eventually("the wait of its parent is over", () => requestsOf(provider, "below").length === 3)
    await runtime.tasks.answer(wait.id, "red", "ada")
    expect(await endOf(opened, agent)).toMatchObject({ patch: { payload: { answer: "It is the red one." } } })
    const [, , afterWait, woken] = requestsOf(provider, "below")
    expect(afterWait && lastAnswer(afterWait)["reason"]).toBe("needs_answer")
    expect(JSON.stringify(woken?.messages.at(-1))).toContain("The red one.")
  },
)
