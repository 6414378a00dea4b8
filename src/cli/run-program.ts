import { Command, Option } from "commander"
import { MOST_TASKS_AT_ONCE } from "../base/concurrency-limit.ts"
import { VERSION } from "../base/version.ts"
import { checkEngineFlag } from "../config/engine-url.ts"
import { endWithOutput } from "./start/closed-output.ts"
import { keepCompiled } from "./compile-cache.ts"
import { DATA_DIRECTORY_NAME } from "./start/data-directory.ts"
import { describeRefusal } from "./start/describe-refusal.ts"
import { EXIT_CODES } from "./start/exit-code.ts"
import { addHelpNotes } from "./start/help-notes.ts"
import { plain } from "./format/format.ts"

const EXAMPLES = `
Examples:
  meanwhile                                   talk, in this folder
  meanwhile --resume                          go on with the last conversation
  meanwhile --model anthropic/claude-sonnet-5-5
  meanwhile run "what does this folder hold?" one prompt, then the end
  git diff | meanwhile run - --json           from a pipe, with events as JSON
  meanwhile tasks                             what runs, and what came of it
  meanwhile worker --engine postgres://me@db/work   take shared work

With --concurrency 0 a chat or a run leaves all tasks to workers.
Without a key (ANTHROPIC_API_KEY, OPENAI_API_KEY, …) it talks with a built-in offline model.
Exit codes: 0 completed, 1 failed, 2 refused, 3 stopped or out of time, 4 a person is needed.`

type LazyCommand = readonly [name: string, description: string, load: () => Promise<{ createCommand(): Command }>]

/** A command is loaded only if it is called by its name: a start should not pay for the others. */
const LAZY_COMMANDS: readonly LazyCommand[] = [
  ["run", "say one thing, print the answer, and end", () => import("./headless/run-command.ts")],
  ["tasks", "list, show, cancel, retry and clear background tasks", () => import("./headless/tasks-command.ts")],
  ["worker", "take work from the queue, without a conversation", () => import("./headless/worker-command.ts")],
  [
    "workers",
    "list who takes work from the queue, and what each can run",
    () => import("./headless/workers-command.ts"),
  ],
  ["migrate", "bring a store on PostgreSQL to this version", () => import("./migrate-command.ts")],
  [
    "doctor",
    "look at everything a start needs, and say what to do about what is missing",
    () => import("./doctor-command.ts"),
  ],
  [
    "init",
    "write a meanwhile.config.ts with every key and its default into this folder",
    () => import("./init-command.ts"),
  ],
  ["trust", "trust what a folder brings along, as it is now", () => import("./trust-command.ts")],
  ["ledger", "what the conversations have used: model calls, tokens, money", () => import("./ledger-command.ts")],
]

/** Sets the exit code; never rejects. */
export async function runProgram(words: readonly string[]): Promise<void> {
  endWithOutput()
  try {
    const asked = toHelpWords(words)
    const program = await createProgram(asked)
    await program.parseAsync(asked, { from: "user" })
  } catch (error) {
    process.stderr.write(`meanwhile: ${plain(describeRefusal(error))}\n`)
    process.exitCode = EXIT_CODES.refused
  }
}

/** `help tasks show` means the same as `tasks show --help`. */
function toHelpWords(words: readonly string[]): readonly string[] {
  const [first, ...command] = words
  if (first !== "help") return words
  const [name] = command
  const isKnown = name === undefined || name.startsWith("-") || LAZY_COMMANDS.some(([known]) => known === name)
  return isKnown ? [...command, "--help"] : [name]
}

async function createProgram(words: readonly string[]): Promise<Command> {
  const program = new Command("meanwhile")
    .description("Talk with an agent whose slow work goes on in the background and comes back by itself.")
    .version(VERSION)
    .option("--data-dir <folder>", `where everything is kept (default: ${DATA_DIRECTORY_NAME} in this folder)`)
    .option("--engine <url>", "keep it in this PostgreSQL instead: postgres://user@host/database, without a password")
    .option("--model <id>", "talk with this model, as provider/name")
    .option("--concurrency <n>", "run so many tasks at once here", toConcurrency)
    .option("--resume [id]", "go on with the last conversation, or with this one")
    .option("--trust", "trust what this folder brings along, as it is now: configuration, servers, commands")
    .addOption(
      new Option("--on-exit <what>", "leaving the chat asks about its work, keeps it going, or stops it").choices([
        "ask",
        "keep",
        "stop",
      ]),
    )
    .option("--yes", "say yes to every approval without asking. Dangerous: the model may do anything you may")
    .helpCommand("help [command]", "show how the program, or a command of it, is used")
    .action(async (options: object, command: Command) => {
      if (command.args.length > 0) command.error(toUnknownWord(command.args[0] ?? ""))
      keepCompiled()
      const { chat } = await import("./chat/chat-command.ts")
      await chat(options)
    })
    .allowExcessArguments()
    .hook("preAction", (program, command) => {
      refuseForeignOption(program, command)
      refuseConcurrency(command)
      const { engine } = command.optsWithGlobals<{ engine?: string }>()
      if (engine !== undefined) checkEngineFlag(engine)
    })
  for (const [name, description, load] of LAZY_COMMANDS) {
    const isAskedFor = words.includes(name)
    if (isAskedFor) keepCompiled()
    program.addCommand(isAskedFor ? (await load()).createCommand() : new Command(name).description(description))
  }
  return withRefusal(addHelpNotes(program, EXAMPLES), "meanwhile")
}

/** NaN for anything but a valid number. The command refuses it, since the valid range depends on the command. */
function toConcurrency(text: string): number {
  const count = Number(text)
  return text.trim() !== "" && Number.isInteger(count) && count >= 0 && count <= MOST_TASKS_AT_ONCE ? count : Number.NaN
}

/** Refuses a number out of range. A worker needs at least 1: with 0 it would take nothing. */
function refuseConcurrency(command: Command): void {
  const { concurrency } = command.optsWithGlobals<{ concurrency?: number }>()
  if (concurrency === undefined) return
  const isWorker = command.name() === "worker"
  const fewest = isWorker ? 1 : 0
  if (concurrency >= fewest) return
  const why = concurrency === 0 ? ": it would take nothing" : ""
  command.error(
    `error: --concurrency${isWorker ? " of a worker" : ""} must be a whole number from ${fewest} to ${MOST_TASKS_AT_ONCE}${why}`,
  )
}

/** Hints for options that a command does not have. */
const HINTS: Readonly<Record<string, string>> = {
  "--resume": ". To go on with a conversation without a chat: meanwhile run --session ID",
  "--on-exit": ": it is for a chat",
  "--concurrency": ": it is for a chat, a run or a worker",
}

/**
 * Commander accepts options of the program in every command. A command refuses those that it does not heed, which are
 * those that its help does not show.
 */
function refuseForeignOption(program: Command, command: Command): void {
  if (command === program) return
  const shown = command.createHelp().visibleGlobalOptions(command)
  const given = program.options.filter((option) => program.getOptionValueSource(option.attributeName()) === "cli")
  const foreign = given.find((option) => !shown.includes(option))?.long
  if (foreign) command.error(`error: ${toWords(command)} has no option ${foreign}${HINTS[foreign] ?? ""}`)
}

function toWords(command: Command): string {
  return command.parent ? `${toWords(command.parent)} ${command.name()}` : command.name()
}

/** Makes every refusal by commander, in a command and in those below it, count as bad usage. */
function withRefusal(command: Command, words: string): Command {
  for (const each of command.commands) withRefusal(each, `${words} ${each.name()}`)
  return command.showHelpAfterError(`(${words} --help shows how it is used)`).exitOverride(refuseUsage)
}

function toUnknownWord(word: string): string {
  const names = LAZY_COMMANDS.map(([name]) => name).join(", ")
  return `error: there is no command ${JSON.stringify(plain(word))}; there are ${names}. To send it to the model: meanwhile run "…"`
}

/** Help and version end with 0; any other exit of commander is bad usage, about which it has printed already. */
function refuseUsage({ exitCode }: { readonly exitCode: number }): never {
  process.exit(exitCode === 0 ? 0 : EXIT_CODES.refused)
}
