import { formatWorkers, isAtWork, type WorkerRow } from "../format-worker.ts"
import type { Command, TaskContext } from "./command.ts"

export const workersCommand: Command<TaskContext> = {
  name: "workers",
  usage: "workers",
  summary: "list who takes work from the queue: where, since when, how much it runs, and what it can run",
  async run(_argument, { meanwhile, screen, words }) {
    const workers = await listWorkers(meanwhile)
    if (workers.length > 0) return screen.print(formatWorkers(workers, meanwhile.engine.now(), screen.columns))
    screen.print(`Nobody takes work from the queue. Start a worker: ${words} worker. A chat takes work too: ${words}`)
  },
}

export async function listWorkers({ tasks }: TaskContext["meanwhile"]): Promise<readonly WorkerRow[]> {
  return (await tasks.workers()).filter(isAtWork)
}
