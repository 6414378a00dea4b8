import { formatWorkers } from "../format/format-worker.ts"
import type { Command, TaskContext } from "./command.ts"

export const workersCommand: Command<TaskContext> = {
  name: "workers",
  usage: "workers",
  summary: "list the workers: where each one runs, since when, how many tasks, and what it can run",
  async run(_argument, { desk, screen, words }) {
    const workers = await desk.workers.list()
    if (workers.length > 0) return screen.print(formatWorkers(workers, desk.now(), screen.columns))
    screen.print(`Nobody takes work from the queue. Start a worker: ${words} worker. A chat takes work too: ${words}`)
  },
}
