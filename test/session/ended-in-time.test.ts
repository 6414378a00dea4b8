import { expect, test } from "vitest"
import { z } from "zod"
import { defineTool } from "../../src/plugin/tool.ts"
import type { SessionId } from "../../src/task/id.ts"
import { isTerminal } from "../../src/task/lifecycle.ts"
import type { TaskStore } from "../../src/task/store.ts"
import { eventually } from "../support/eventually.ts"
import { resultsOf, resultText } from "../support/session/open-agent.ts"
import { beginLife } from "../support/session/lives.ts"
import { createFolder } from "../support/workplace.ts"

const SESSION = "session-in-time" as SessionId
const BROKEN = "the disk is on fire"

const fails = defineTool({
  name: "fails",
  description: "Fails in the background.",
  input: z.object({}),
  background: { mode: "always" },
  run: () => Promise.reject(new Error(BROKEN)),
})

/** Imitates a store that is slower than the tool: a read of a tool's task finds its end. */
function showOnlyEnds(store: TaskStore): void {
  const read = store.task.bind(store)
  Object.assign(store, {
    async task(id: Parameters<TaskStore["task"]>[0]) {
      const task = await read(id)
      if (task?.kind !== "tool" || isTerminal(task.status)) return task
      return eventually("it has ended", async () => {
        const later = await read(id)
        return later && isTerminal(later.status) && later
      })
    },
  })
}

test("a failure that was the answer to its call is not told again", async () => {
  const script = [{ calls: [{ tool: "fails" }] }, "I have seen that.", "You are welcome."]
  const { runtime, store } = await beginLife(createFolder(), 1, { script, tools: [fails] })
  showOnlyEnds(store)
  const session = await runtime.createSession({ id: SESSION })
  await session.send("Work.")
  expect(await store.notices({ session: SESSION, states: ["pending", "claimed"] }, 10)).toEqual([])
  await session.send("Thank you.")
  const history = session.history()
  expect(resultsOf(history).map(resultText)).toEqual([BROKEN])
  expect(history.filter((message) => JSON.stringify(message).includes(BROKEN))).toHaveLength(1)
})
