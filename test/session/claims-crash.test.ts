import { expect, test } from "vitest"
import { z } from "zod"
import { textOf } from "../../src/plugin/message.ts"
import { defineTool, type Tool } from "../../src/plugin/tool.ts"
import type { SessionId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { echo } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"
import { resultsOf, resultText } from "../support/session/open-agent.ts"
import { beginLife } from "../support/session/lives.ts"

const SESSION = "session-claims" as SessionId

/**
 * A tool that reads the result of a task in its first life, in which the process dies; in the second life it shows nothing.
 */
function createPeek(onRead?: () => void): Tool {
  return defineTool({
    name: "peek",
    description: "Looks at a result.",
    input: z.object({}),
    onCrash: "retry",
    async run(_input, { tasks }) {
      if (!onRead) return "I have seen nothing."
      const { id } = await tasks.start({ tool: "echo", input: { value: "what it came to" } })
      await tasks.result(id, { waitMs: 60_000, consume: true })
      onRead()
      return new Promise(() => {})
    },
  })
}

test("a result that a call read before a crash is told when its answer after the crash does not show it", async () => {
  const folder = createFolder()
  const read = Promise.withResolvers<void>()
  const script = [{ calls: [{ tool: "peek" }] }, "That is all."]
  const first = await beginLife(folder, 1, { script, tools: [echo, createPeek(read.resolve)] })
  const session = await first.runtime.createSession({ id: SESSION })
  void session.send("Look.")
  await read.promise
  const claimed = await first.store.notices({ session: SESSION, states: ["claimed"] }, 10)
  first.life.end()
  expect(claimed).toHaveLength(1)

  const second = await beginLife(folder, 2, {
    script: ["That is all.", "You are welcome."],
    tools: [echo, createPeek()],
  })
  const reopened = await second.runtime.openSession(SESSION)
  await reopened.send("Thank you.")
  const history = reopened.history()
  expect(resultsOf(history).map(resultText)).toEqual(["I have seen nothing."])
  expect(history.filter((message) => textOf(message).includes("what it came to"))).toHaveLength(1)
  expect(await second.store.notices({ session: SESSION, states: ["pending", "claimed"] }, 10)).toEqual([])
})

test("a result that a call showed before a crash is told when its answer after the crash is its task's id", async () => {
  const folder = createFolder()
  const shown = Promise.withResolvers<void>()
  const work = defineTool({
    name: "work",
    description: "Works in the background.",
    input: z.object({}),
    background: { mode: "always" },
    run: async () => "what it came to",
  })
  const createHold = (onHeld?: () => void) =>
    defineTool({
      name: "hold",
      description: "Holds the answers to the other calls back.",
      input: z.object({}),
      onCrash: "retry",
      async run() {
        if (!onHeld) return "Nothing is held."
        onHeld()
        return new Promise(() => {})
      },
    })
  const script = [{ calls: [{ tool: "work" }, { tool: "hold" }] }, "That is all."]
  const first = await beginLife(folder, 1, { script, tools: [work, createHold(shown.resolve)] })
  const session = await first.runtime.createSession({ id: SESSION })
  void session.send("Work.")
  await shown.promise
  const [task] = await eventually("the work has ended", async () => {
    const { items } = await first.store.tasks(
      { session: SESSION, kinds: ["tool"], statuses: ["completed"] },
      { limit: 2 },
    )
    return items.length > 0 && items
  })
  const record = task && (await first.store.task(task.id))
  if (!record?.askedBy) throw new Error("Nobody asked for it.")
  // Claims the result, as a call in the foreground does that sees its task end in time.
  const keys = [{ taskId: record.id, run: 1, kind: "ended" }] as const
  await first.store.commit([{ op: "notice.claim", keys, by: record.askedBy }])
  expect(await first.store.notices({ session: SESSION, states: ["claimed"] }, 10)).toHaveLength(1)
  first.life.end()

  const second = await beginLife(folder, 2, {
    script: ["That is all.", "You are welcome."],
    tools: [work, createHold()],
  })
  const reopened = await second.runtime.openSession(SESSION)
  await reopened.send("Thank you.")
  const history = reopened.history()
  expect(history.filter((message) => JSON.stringify(message).includes("what it came to"))).toHaveLength(1)
  expect(await second.store.notices({ session: SESSION, states: ["pending", "claimed"] }, 10)).toEqual([])
})
