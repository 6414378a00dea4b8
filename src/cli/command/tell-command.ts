import { shortId } from "../format/format.ts"
import { type Command, splitLine, type TaskContext } from "./command.ts"
import { describeLack } from "./describe-lack.ts"

export const tellCommand: Command<TaskContext> = {
  name: "tell",
  usage: "tell ID TEXT",
  summary: "say something to an agent in the background; a completed agent goes on with it",
  isKept: true,
  async run(argument, { desk, screen, prefix, announceEnd }) {
    const { name: id, argument: text } = splitLine(argument)
    if (id === "" || text === "") {
      const list = `${prefix}${prefix === "/" ? "tasks" : "list"}`
      return screen.print(`Say which agent and what: ${prefix}${tellCommand.usage}. ${list} lists them.`)
    }
    const { task, how } = await desk.tasks.steer(id, text)
    const heard =
      how === "steered"
        ? `[${shortId(task.id)}] hears it before its next step`
        : `[${shortId(task.id)}] goes on with it as run ${task.run}; its end will be announced`
    screen.print(`${heard}${await describeLack(desk, task)}`)
    announceEnd(task.id)
  },
}
