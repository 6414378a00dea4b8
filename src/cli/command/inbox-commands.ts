import { MeanwhileError } from "../../base/error.ts"
import { shortId } from "../format/format.ts"
import { describeAnswer, formatAsked, formatExpiry, toAnswer } from "../question/inbox.ts"
import { toAskedRows } from "../question/asked-rows.ts"
import { type Command, splitLine, type TaskContext } from "./command.ts"

export const inboxCommand: Command<TaskContext> = {
  name: "inbox",
  usage: "inbox",
  summary: "list the questions that wait for your answer",
  async run(_argument, { desk, screen, prefix }) {
    const items = await desk.inbox.list()
    if (items.length === 0) screen.print("Nothing waits for your answer.")
    for (const item of items) {
      const text = await formatAsked(desk, item, `${prefix}answer`, screen, screen.style)
      const expiry = toAskedRows(formatExpiry(item, desk.now()), screen.columns, "")
      screen.print([text, ...expiry.map(screen.style.dim)].join("\n"))
    }
  },
}

export const answerCommand: Command<TaskContext> = {
  name: "answer",
  usage: "answer ID yes|no|NUMBER|TEXT",
  summary: "answer the question of a task",
  isKept: true,
  async run(argument, { desk, screen, prefix, announceEnd }) {
    const { name: id, argument: text } = splitLine(argument)
    const waiting = `${prefix}inbox lists what waits.`
    if (id === "" || text === "")
      return screen.print(`Say which task and what you answer: ${prefix}${answerCommand.usage}. ${waiting}`)
    const { task } = await desk.tasks.find(id)
    const item = await desk.inbox.of(task.id)
    if (!item) {
      const message = `[${shortId(task.id)}] waits for no answer: it is ${task.status}. ${waiting}`
      throw new MeanwhileError("wrong_state", message)
    }
    const answer = toAnswer(item, text)
    if (answer === undefined) {
      const message = `Answer with ${describeAnswer(item)}: ${prefix}answer ${shortId(task.id)} …`
      throw new MeanwhileError("invalid_input", message)
    }
    const answered = await desk.inbox.answer(item.id, answer, { folder: process.cwd() })
    screen.print(`[${shortId(task.id)}] is answered and ${answered.status}`)
    announceEnd(task.id)
  },
}
