import { Command, InvalidArgumentError } from "commander"
import { toErrorMessage } from "../../base/error.ts"
import { readDurationMs } from "../command/read-duration.ts"
import { EXIT_CODES } from "../start/exit-code.ts"
import type { GlobalOptions } from "../start/open-runtime.ts"
import { addHelpNotes } from "../start/help-notes.ts"
import { showSharedOptions } from "../start/shared-options.ts"
import { readPrompt } from "./read-prompt.ts"

interface RunOptions extends GlobalOptions {
  readonly json?: true
  readonly session?: string
  readonly yes?: true
  readonly timeout?: number
  readonly wait: boolean
}

const SHARED_OPTIONS = ["--data-dir", "--engine", "--concurrency", "--model", "--trust", "--yes"]

const AFTER = `
What is piped in beside a prompt is said with it: git diff | meanwhile run "review this"
The answer goes to standard output, everything else to standard error. Before it ends it waits for the tasks that the answer left in the background, and prints what the agent reports of them. Waiting costs no tokens.
With --concurrency 0 it leaves all tasks to workers.
Exit codes: 0 completed, 1 the turn, a report or a task failed, 2 refused, 3 stopped or out of time, 4 a person is needed.`

/** `meanwhile run`: one prompt, without a person at the keyboard. */
export function createCommand(): Command {
  const run = new Command("run")
    .description("say one thing, print the answer, and end")
    .argument("[prompt]", "what to say; - or nothing reads it from standard input")
    .option("--json", "one JSON object a line for everything that happens, the result last")
    .option("--session <id>", "go on with this conversation")
    .option("--timeout <time>", "stop when it takes longer: seconds, or 30m, 1h30m", toDurationMs)
    .option("--no-wait", "do not wait for background tasks and their reports; says what becomes of them")
    .action(async (given: string | undefined, _options: object, command: Command) => {
      const { json = false, yes = false, timeout, wait, ...options } = command.optsWithGlobals<RunOptions>()
      const prompt = await readPrompt(given, process.stdin)
      if (prompt === "") command.error('error: there is nothing to say. For example: meanwhile run "what is in here?"')
      const { runPrompt } = await import("./run-prompt.ts")
      const exit = await runPrompt({
        ...options,
        prompt,
        isJson: json,
        isApproving: yes,
        waitsForTasks: wait,
        timeoutMs: timeout ?? null,
      })
      process.exitCode = EXIT_CODES[exit]
    })
  return showSharedOptions(addHelpNotes(run, AFTER), SHARED_OPTIONS)
}

function toDurationMs(value: string): number {
  try {
    return readDurationMs(value)
  } catch (error) {
    throw new InvalidArgumentError(toErrorMessage(error))
  }
}
