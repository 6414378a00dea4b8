import { Command, InvalidArgumentError, Option } from "commander"
import type { Program } from "../../program/open-program.ts"
import { EXIT_CODES } from "../start/exit-code.ts"
import type { GlobalOptions } from "../start/open-runtime.ts"
import { addHelpNotes } from "../start/help-notes.ts"
import { showSharedOptions } from "../start/shared-options.ts"

type WorkerKind = NonNullable<Program["worker"]["kinds"]>[number]

const KINDS: readonly WorkerKind[] = ["tool", "agent"]
const SHARED_OPTIONS = ["--engine", "--data-dir", "--concurrency", "--trust"]

interface WorkerCommandOptions extends GlobalOptions {
  readonly kinds?: readonly WorkerKind[]
  readonly drain?: number
  readonly verbose?: true
  readonly untilIdle?: true
  readonly keeper?: true
}

const AFTER = `
It has the plugins and the configuration of the folder it is started in, and takes only tasks whose tool it has. With --concurrency, limits per plugin and session count only where the configuration names them. What needs a person waits in the inbox.
With --until-idle it ends by itself once nothing is left that it could do: open questions, commands without a time limit, and work of other workers are left as they are.
SIGTERM or Ctrl+C stops it: agents, turns and tools that may be repeated go back to the queue, other tasks are stopped once --drain is over. A second one ends it at once; others then take over what it ran. A terminal that is gone (SIGHUP) stops it too.
Exit codes: 0 stopped, 2 refused, 3 ended at once, or while its store was away.`

/** `meanwhile worker`: a process that runs tasks and has no conversation. */
export function createCommand(): Command {
  const worker = new Command("worker")
    .description("take work from the queue, without a conversation")
    .option(
      "--kinds <list>",
      `take only these, of ${KINDS.join(",")}; turns go with agents (default: as configured, else all)`,
      toKinds,
    )
    .option(
      "--drain <seconds>",
      "when it is stopped, let tasks other than agents come to their end for so long (default: as configured, else 0)",
      toSeconds,
    )
    .option("--until-idle", "end when nothing is left to do")
    .addOption(new Option("--keeper", "started by a program that left its work").hideHelp())
    .option("--verbose", "tell what it takes and what comes of it")
    .action(async (_, command: Command) => {
      const {
        kinds,
        drain,
        verbose = false,
        untilIdle = false,
        keeper = false,
        ...options
      } = command.optsWithGlobals<WorkerCommandOptions>()
      const { runWorker } = await import("./run-worker.ts")
      const exit = await runWorker({
        ...options,
        worker: { ...(kinds && { kinds: [...kinds] }), ...(drain !== undefined && { drainSeconds: drain }) },
        isVerbose: verbose,
        endsWhenIdle: untilIdle || keeper,
        isKeeper: keeper,
      })
      process.exitCode = EXIT_CODES[exit]
    })
  return showSharedOptions(addHelpNotes(worker, AFTER), SHARED_OPTIONS)
}

function toSeconds(text: string): number {
  const seconds = Number(text)
  if (!(seconds >= 0)) throw new InvalidArgumentError("It must be a number of seconds.")
  return seconds
}

function toKinds(text: string): readonly WorkerKind[] {
  return text.split(",").map((word) => {
    const kind = KINDS.find((known) => known === word.trim())
    if (kind === undefined)
      throw new InvalidArgumentError(`There are ${KINDS.join(" and ")}, with a comma between them.`)
    return kind
  })
}
