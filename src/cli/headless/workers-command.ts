import { Command } from "commander"
import { workersCommand } from "../command/workers-command.ts"
import type { GlobalOptions } from "../start/open-runtime.ts"
import { showSharedOptions, STORE_OPTIONS } from "../start/shared-options.ts"
import { toJsonLine } from "./json-line.ts"
import { lookAtTasks } from "./with-tasks.ts"

interface WorkersOptions extends GlobalOptions {
  readonly json?: true
}

/** `meanwhile workers`: lists the workers, on whichever machine they run. */
export function createCommand(): Command {
  const workers = new Command("workers")
    .description(workersCommand.summary)
    .option("--json", "one JSON object a line")
    .action(async (_: object, command: Command) => {
      const { json, ...options } = command.optsWithGlobals<WorkersOptions>()
      await lookAtTasks(options, async (context) => {
        if (!json) return workersCommand.run("", context)
        for (const worker of await context.desk.workers.list()) context.screen.print(toJsonLine(worker))
      })
    })
  return showSharedOptions(workers, [...STORE_OPTIONS, "--trust"])
}
