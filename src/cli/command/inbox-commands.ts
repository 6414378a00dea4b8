import { MeanwhileError } from "../../base/error.ts"
import { describePlace, isAskedElsewhere } from "../asked-place.ts"
import { shortId } from "../format.ts"
import { describeAnswer, formatExpiry, formatQuestion, openQuestions, toAnswer, toDetailLines } from "../inbox.ts"
import { type Command, splitLine, type TaskContext } from "./command.ts"

export const inboxCommand: Command<TaskContext> = {
  name: "inbox",
  usage: "inbox",
  summary: "list what waits for your answer",
  async run(_argument, { meanwhile, screen, prefix }) {
    const questions = await openQuestions(meanwhile)
    if (questions.length === 0) screen.print("Nothing waits for your answer.")
    for (const question of questions) {
      const { dim } = screen.style
      const asking = await meanwhile.engine.store.task(question.taskId)
      const place = asking ? await describePlace(meanwhile, asking) : []
      // What is asked about a command names its folder too.
      const details = toDetailLines(question).filter((line) => !place.some((one) => one.split(", ")[0] === line))
      const text = formatQuestion(question, `${prefix}answer`, [...details, ...place].map(dim))
      screen.print(`${text}\n${dim(formatExpiry(question, meanwhile.engine.now()))}`)
    }
  },
}

export const answerCommand: Command<TaskContext> = {
  name: "answer",
  usage: "answer ID yes|no|NUMBER|TEXT",
  summary: "answer what a task waits for",
  isKept: true,
  async run(argument, { meanwhile, screen, prefix, announceEnd }) {
    const { name: id, argument: text } = splitLine(argument)
    if (id === "" || text === "") {
      screen.print(
        `Say which task and what you answer: ${prefix}${answerCommand.usage}. ${prefix}inbox lists what waits.`,
      )
      return
    }
    const { task } = await meanwhile.tasks.get(id)
    const wait = (await openQuestions(meanwhile)).find(({ taskId }) => taskId === task.id)
    if (!wait) {
      const message = `[${shortId(task.id)}] waits for no answer: it is ${task.status}. ${prefix}inbox lists what waits.`
      throw new MeanwhileError("wrong_state", message)
    }
    const answer = toAnswer(wait, text)
    if (answer === undefined) {
      const message = `Answer with ${describeAnswer(wait)}: ${prefix}answer ${shortId(task.id)} …`
      throw new MeanwhileError("invalid_input", message)
    }
    if (await isAskedElsewhere(meanwhile, task)) meanwhile.tasks.leaveToOthers(task.id)
    const answered = await meanwhile.tasks.answer(wait.id, answer, "person")
    screen.print(`[${shortId(task.id)}] is answered and ${answered.status}`)
    announceEnd(task.id)
  },
}
