import { formatDuration, shortId } from "../format/format.ts"
import { type Command, splitLine, type TaskContext } from "./command.ts"
import { readLimitMs } from "./read-duration.ts"
import { requireId } from "./task-commands.ts"

export const limitCommand: Command<TaskContext> = {
  name: "limit",
  usage: "limit ID TIME",
  summary: "change how long a task may run in all: 90s, 1h30m, 2d, or none",
  isKept: true,
  async run(argument, { desk, screen, prefix }) {
    const { name: id, argument: time } = splitLine(argument)
    if (!requireId(id, "limit", screen)) return
    if (time === "") return screen.print(`Say how long it may run in all, for example: ${prefix}limit ${id} 2h`)
    const wantedMs = readLimitMs(time)
    const task = await desk.tasks.limit(id, wantedMs)
    const { timeoutMs } = task.limits
    const standing =
      timeoutMs === null ? "has no time limit now" : `may run for ${formatDuration(timeoutMs)} in all now`
    const isCapped = timeoutMs !== null && (wantedMs === null || timeoutMs < Math.floor(wantedMs))
    screen.print(`[${shortId(task.id)}] ${standing}${isCapped ? ": the configuration allows no more" : ""}`)
  },
}
