import { expect, test } from "vitest"
import { toQueuedTask } from "../../../test/support/cli/queued-task.ts"
import { createSessionId, type TaskId } from "../../task/id.ts"
import { shortId, type Task } from "../format/format.ts"
import { createStyle } from "../screen/style.ts"
import { createExitQuestion, findLiveHere } from "./exit-question.ts"

const toTask = (title: string, lifetime: Task["lifetime"] = "runtime"): Task => toQueuedTask({ title, lifetime })
const toTurn = (title: string): Task => toQueuedTask({ title, kind: "turn", session: createSessionId() })

interface Work {
  readonly here?: readonly Task[]
  readonly elsewhere?: readonly Task[]
  readonly queued?: readonly Task[]
  readonly own?: readonly Task[]
  readonly takenOver?: readonly Task[]
  readonly turns?: readonly Task[]
}

/** Leaves a chat with this work, and gives back what it shows and whether it has left. */
async function leave({ here = [], elsewhere = [], queued = [], own = [], takenOver = [], turns = [] }: Work) {
  const shown: string[] = []
  const over = Promise.withResolvers<{ readonly text: string; readonly hasLeft: boolean }>()
  const finish = (hasLeft: boolean): void => over.resolve({ text: shown.join("\n"), hasLeft })
  const toIds = (tasks: readonly Task[]): ReadonlySet<TaskId> => new Set(tasks.map(({ id }) => id))
  const departure = async () => ({ here, elsewhere, queued, turns, own: toIds(own), takenOver: toIds(takenOver) })
  const question = createExitQuestion({
    onExit: "ask",
    canAsk: true,
    screen: {
      print(text) {
        shown.push(text)
        finish(false)
      },
      style: createStyle({}, {}),
    },
    findLive: () =>
      findLiveHere(
        { workers: { successors: async () => [] } },
        {
          news: { departure },
          conversation: { session: { id: createSessionId() }, answering: () => new Set() },
          leftTurns: { sessions: () => new Set() },
          asking: new Set(),
        },
      ),
    end: () => finish(true),
    onChange: () => {},
    onStay: () => {},
  })
  question.leave("quit")
  return { ...(await over.promise), named: question.named() }
}

test("the question about leaving names exactly what a stop ends, wherever that is, and says what goes on in any case", async () => {
  const [one, adopted, far, waits] = [toTask("one"), toTask("adopted"), toTask("far"), toTask("waits")]
  const turn = toTurn("What is new?")
  const { text, named, hasLeft } = await leave({
    here: [one, adopted, toTask("of another chat"), toTask("for ever", "forever")],
    elsewhere: [far, toTask("far and of another chat")],
    queued: [waits],
    own: [one, far, waits],
    turns: [turn, toTurn("of another chat")],
    takenOver: [adopted, turn],
  })
  const stopped = [one, adopted, far, waits]
  expect(text.split("\n")).toEqual([
    ...stopped.map(({ id, title }) => `  [${shortId(id)}] ${title}`),
    `  [${shortId(turn.id)}] answer: What is new?`,
    "2 tasks run, 1 task runs elsewhere, 1 task is queued, an answer is under way. Leave, and keep it going?",
    "  (1 task and 1 answer that were not asked for in this chat go on in any case)",
    "  (Enter or k: keep it going; s: stop it; n: stay here; Ctrl+C or Ctrl+D: keep it going)",
  ])
  expect([...named]).toEqual([...stopped, turn].map(({ id }) => id))
  expect(hasLeft).toBe(false)
})

test("the question counts the tasks that it does not name", async () => {
  const tasks = Array.from({ length: 10 }, (_, index) => toTask(`task ${index}`))
  const { text } = await leave({ here: tasks, own: tasks })
  expect(text).toMatch(/task 7\n {2}and 2 more\n10 tasks run\./)
})

test("a chat that has only work of others leaves without a question", async () => {
  const { hasLeft, text } = await leave({ here: [toTask("of another chat")], turns: [toTurn("of another chat")] })
  expect([hasLeft, text]).toEqual([true, ""])
})
