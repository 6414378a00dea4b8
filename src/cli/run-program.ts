import { Command } from "commander"
import { VERSION } from "../base/version.ts"
import { checkEngineFlag } from "../config/engine-url.ts"
import { endWithOutput } from "./start/closed-output.ts"
import { keepCompiled } from "./compile-cache.ts"
import { refuseConcurrency, toConcurrency } from "./concurrency-option.ts"
import { DATA_DIRECTORY_NAME } from "./start/data-directory.ts"
import { describeRefusal } from "./start/describe-refusal.ts"
import { EXIT_CODES } from "./start/exit-code.ts"
import { refuseForeignOption } from "./foreign-option.ts"
import { plain } from "./format/format.ts"

const EXAMPLES = `
Examples:
  meanwhile                                   talk, in this folder
  meanwhile --resume                          go on with the last conversation
  meanwhile --model anthropic/claude-sonnet-5-5
  meanwhile run "what does this folder hold?" one prompt, then the end
  git diff | meanwhile run - --json           the prompt from a pipe, the events as JSON
  meanwhile tasks                             what runs in the background, and what came of it
  meanwhile worker --engine postgres://me@db/work   take work from a store that many share

With --concurrency 0 a chat or a run leaves all tasks to workers.
Without a key (ANTHROPIC_API_KEY, OPENAI_API_KEY, …) it talks with a built-in offline model.
Exit codes: 0 completed, 1 failed, 2 refused, 3 stopped or out of time, 4 a person is needed.`

interface LazyCommand {
  readonly name: string
  readonly description: string
  load(): Promise<Command>
}

/** Each is loaded only when it is asked for by its name: a start should not pay for the others. */
const LAZY_COMMANDS: readonly LazyCommand[] = [
  {
    name: "run",
    description: "say one thing, print the answer, and end",
    load: async () => (await import("./headless/run-command.ts")).createRunCommand(),
  },
  {
    name: "tasks",
    description: "list, show, cancel, retry and clear background tasks",
    load: async () => (await import("./headless/tasks-command.ts")).createTasksCommand(),
  },
  {
    name: "worker",
    description: "take work from the queue, without a conversation",
    load: async () => (await import("./headless/worker-command.ts")).createWorkerCommand(),
  },
  {
    name: "workers",
    description: "list who takes work from the queue, and what each can run",
    load: async () => (await import("./headless/workers-command.ts")).createWorkersCommand(),
  },
  {
    name: "migrate",
    description: "bring a store on PostgreSQL to this version",
    load: async () => (await import("./migrate-command.ts")).createMigrateCommand(),
  },
  {
    name: "doctor",
    description: "look at everything a start needs, and say what to do about what is missing",
    load: async () => (await import("./doctor-command.ts")).createDoctorCommand(),
  },
  {
    name: "init",
    description: "write a meanwhile.config.ts with every key and its default into this folder",
    load: async () => (await import("./init-command.ts")).createInitCommand(),
  },
  {
    name: "trust",
    description: "trust what a folder brings along, as it is now",
    load: async () => (await import("./trust-command.ts")).createTrustCommand(),
  },
  {
    name: "ledger",
    description: "what the conversations have used: model calls, tokens, money",
    load: async () => (await import("./ledger-command.ts")).createLedgerCommand(),
  },
]

/** Sets the exit code; nothing is thrown. */
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
  const isKnown = name === undefined || name.startsWith("-") || LAZY_COMMANDS.some((known) => known.name === name)
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
    .option("--yes", "say yes to every approval without asking. Dangerous: the model may do anything you may")
    .helpCommand("help [command]", "show how the program, or a command of it, is used")
    .addHelpText("after", EXAMPLES)
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
  for (const { name, description, load } of LAZY_COMMANDS) {
    const isAskedFor = words.includes(name)
    if (isAskedFor) keepCompiled()
    program.addCommand(isAskedFor ? await load() : new Command(name).description(description))
  }
  return withRefusal(program, "meanwhile")
}

/** A refusal by commander, in a command or in one below it, is bad usage everywhere. */
function withRefusal(command: Command, words: string): Command {
  for (const each of command.commands) withRefusal(each, `${words} ${each.name()}`)
  return command.showHelpAfterError(`(${words} --help shows how it is used)`).exitOverride(refuseUsage)
}

function toUnknownWord(word: string): string {
  const names = LAZY_COMMANDS.map(({ name }) => name).join(", ")
  return `error: there is no command ${JSON.stringify(plain(word))}; there are ${names}. To say it: meanwhile run "…"`
}

/** Help and version end well; everything else that commander refuses is bad usage, and was said. */
function refuseUsage({ exitCode }: { readonly exitCode: number }): never {
  process.exit(exitCode === 0 ? 0 : EXIT_CODES.refused)
}
