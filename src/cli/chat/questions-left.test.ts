import { expect, test } from "vitest"
import { toQueuedTask } from "../../../test/support/cli/queued-task.ts"
import { createTaskId, createWaitId, type TaskId } from "../../task/id.ts"
import type { Task } from "../format/format.ts"
import type { InboxItem } from "../question/inbox.ts"
import { tellQuestionsLeft } from "./questions-left.ts"

function toItem(id: string, parentTask: TaskId, title: string, text: string): InboxItem {
  const task = toQueuedTask({ id: id as TaskId, title, parentTask })
  const question = { about: "call", kind: "approval", text } as const
  return { id: createWaitId(), task, question, openedAt: 0, expiresAt: null, onExpiry: false }
}

test("leaving names what waits in the inbox, with the agent that asks", async () => {
  const agent = toQueuedTask({ kind: "agent", title: "subagent: tidy up" })
  const turn = toQueuedTask({ kind: "turn", title: "Tidy up.", parentTask: agent.id })
  const tasks: readonly Task[] = [agent, turn]
  const items = [
    toItem("11111111-1", turn.id, "remove it", "Allow run_command?\u0007 It deletes."),
    toItem("22222222-2", createTaskId(), "which", ""),
  ]
  const shown: string[] = []
  const tell = (list: readonly InboxItem[]) =>
    tellQuestionsLeft(
      {
        inbox: { list: async () => list },
        tasks: {
          async find(id) {
            const task = tasks.find((one) => one.id === id)
            if (!task) throw new Error("It was removed.")
            return { task }
          },
        },
      },
      { print: (text) => void shown.push(text) },
      "mw",
    )
  await tell(items)
  expect(shown.join("\n").split("\n")).toEqual([
    "2 questions stay in the inbox: /inbox in the next chat, or mw tasks inbox",
    expect.stringMatching(/^ {2}\[11111111\] Allow run_command\?.? It deletes\. \(subagent: tidy up\)$/),
    "  [22222222] which",
  ])
  shown.length = 0
  await tell([])
  expect(shown).toEqual([])
})
