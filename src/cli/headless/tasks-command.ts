import { Command, InvalidArgumentError } from "commander"
import type { Command as PromptCommand, TaskContext } from "../command/command.ts"
import { cancelCommand } from "../command/cancel-command.ts"
import { clearCommand } from "../command/clear-command.ts"
import { groupsCommand } from "../command/groups-command.ts"
import { answerCommand, inboxCommand } from "../command/inbox-commands.ts"
import { limitCommand } from "../command/limit-command.ts"
import { followOutput, type OutputSink } from "../command/follow-output.ts"
import { toSink } from "../command/output-command.ts"
import { formatCounts, retryCommand, taskCommand, tasksCommand } from "../command/task-commands.ts"
import { tellCommand } from "../command/tell-command.ts"
import { formatAnnouncement, plain } from "../format/format.ts"
import { tellAside } from "../start/find-engine.ts"
import type { GlobalOptions } from "../start/open-runtime.ts"
import { addHelpNotes } from "../start/help-notes.ts"
import { showSharedOptions, STORE_OPTIONS } from "../start/shared-options.ts"
import { writeArtifact } from "./artifact-command.ts"
import { toJsonLine } from "./json-line.ts"
import { lookAtTasks, workOnTasks } from "./with-tasks.ts"

const MOST_LISTED = 100

const AFTER = `
Exit codes: 0 done, 1 a task that was waited for failed, 2 refused, 3 stopped before the end, 4 a person is needed.`

interface TasksOptions extends GlobalOptions {
  readonly json?: true
  readonly all?: true
  readonly follow?: true
  readonly output?: string
}

/** `meanwhile tasks`: the commands about tasks without a chat. */
export function createCommand(): Command {
  const clear = new Command("clear")
    .description(
      "forget tasks that have ended, with their output; results that a conversation has not used yet stay. In a store " +
        "that others share: those that were begun with this data folder",
    )
    .option("--all", "in a store that others share: everybody's")
  const cancel = new Command("cancel").description(cancelCommand.summary)
  cancel.argument("<id|group>", "the first characters are enough, or a group's name", toName)
  const answer = withId("answer", `${answerCommand.summary}, and wait for it`)
  answer.argument("<answer...>", "yes, no, the number of an option, or text")
  const limit = withId("limit", limitCommand.summary).argument("<time...>", "how long it may run in all")
  const tell = withId("tell", `${tellCommand.summary}, which is waited for`).argument("<text...>", "what to say")
  const tasks = new Command("tasks")
    .description("list, show, cancel, retry, limit and clear background tasks, and talk to agents among them")
    .addCommand(createListCommand(), { isDefault: true })
    .addCommand(createShowCommand())
    .addCommand(
      looking(
        withId("output", "show what a task has printed").option("--follow", "until it ends"),
        (context, { follow = false }, id) => printOutput(id, follow, context),
      ),
    )
    .addCommand(createArtifactCommand())
    .addCommand(createCountCommand())
    .addCommand(toShellCommand(cancel, cancelCommand, lookAtTasks))
    .addCommand(toShellCommand(withId("retry", `${retryCommand.summary}, and wait for it`), retryCommand, workOnTasks))
    .addCommand(toShellCommand(limit, limitCommand, lookAtTasks))
    .addCommand(looking(clear, (context, { all }) => clearCommand.run("", all ? { ...context, own: null } : context)))
    .addCommand(toShellCommand(new Command("groups").description(groupsCommand.summary), groupsCommand, lookAtTasks))
    .addCommand(toShellCommand(new Command("inbox").description(inboxCommand.summary), inboxCommand, lookAtTasks))
    .addCommand(toShellCommand(answer, answerCommand, workOnTasks))
    .addCommand(toShellCommand(tell, tellCommand, workOnTasks))
  return showSharedOptions(addHelpNotes(tasks, AFTER), [...STORE_OPTIONS, "--trust"])
}

function createListCommand(): Command {
  const list = new Command("list")
    .description("list the newest tasks")
    .allowExcessArguments()
    .option("--all", "with the turns of conversations")
    .option("--json", `one JSON object a line, ${MOST_LISTED} at most`)
    .hook("preAction", refuseWords)
  return looking(list, async (context, { all, json }) => {
    if (!json) return tasksCommand.run(all ? "all" : "", context)
    const { items } = await context.desk.tasks.list(all ? {} : { kinds: "work" }, { limit: MOST_LISTED })
    for (const item of items) context.screen.print(toJsonLine(item))
  })
}

/** Refuses an unknown word, which arrives at the default command, and a word behind the name of that command. */
function refuseWords(command: Command): void {
  const { parent } = command
  const [word] = command.args
  if (word === undefined) return
  if (parent?.args[0] === command.name()) {
    parent.error(
      `error: tasks list does not understand ${JSON.stringify(plain(word))}. meanwhile tasks show ID shows one task`,
    )
  }
  const names = parent?.commands.map((command) => command.name()).join(", ")
  parent?.error(`error: there is no command ${JSON.stringify(plain(word))} for tasks; there are ${names}`)
}

function createShowCommand(): Command {
  const show = withId("show", taskCommand.summary).option("--json", "as one JSON object")
  return looking(show, async (context, { json }, id) => {
    if (!json) return taskCommand.run(id, context)
    context.screen.print(toJsonLine(await context.desk.tasks.find(id)))
  })
}

function createArtifactCommand(): Command {
  const artifact = withId("artifact", "write an artifact of a task to standard output, or to a file")
    .argument("[hash]", "its name, or the first characters of its hash; needed if the task has several")
    .option("--output <file>", "write it there; needed for binary content at a terminal")
  return looking(artifact, (context, { output }, id) =>
    writeArtifact(id, { wanted: artifact.args[1], path: output }, context),
  )
}

function createCountCommand(): Command {
  const count = new Command("count")
    .description("how many tasks there are of each status, and how old the queue is")
    .option("--json", "as one JSON object")
  return looking(count, async ({ desk, screen }, { json }) => {
    const counts = await desk.tasks.counts({ kinds: "work" })
    screen.print(json ? toJsonLine(counts) : formatCounts(counts) || "No tasks yet.")
  })
}

/** Makes a command that reads tasks. `work` gets its first argument as `word`. */
function looking(
  command: Command,
  work: (context: TaskContext, options: TasksOptions, word: string) => Promise<unknown>,
): Command {
  return command.action(async () => {
    const options = command.optsWithGlobals<TasksOptions>()
    await lookAtTasks(options, (context) => work(context, options, command.args[0] ?? ""))
  })
}

/** Prints the output of a task and nothing else; words about it go to standard error. */
async function printOutput(id: string, isFollowing: boolean, context: TaskContext): Promise<void> {
  await followOutput(id, isFollowing, context, process.stdout.isTTY ? toSink(context.screen, tellAside) : PIPE)
  if (!isFollowing || context.signal.aborted) return
  const { task } = await context.desk.tasks.find(id)
  if ("endedAt" in task && task.status !== "completed") tellAside(formatAnnouncement(task))
}

/** The reader of a pipe gets the output byte by byte, without a line end that the task did not print. */
const PIPE: OutputSink = {
  encoding: "latin1",
  tell: tellAside,
  write: (bytes) => void process.stdout.write(bytes, "latin1"),
  end() {},
}

function withId(name: string, description: string): Command {
  return new Command(name).description(description).argument("<id>", "the first characters are enough", toName)
}

/** Refuses an empty word, which a script may hand on. */
function toName(word: string): string {
  if (word.trim() === "") throw new InvalidArgumentError("It is empty. `meanwhile tasks` lists the ids.")
  return word
}

/** Makes a command of the prompt one of the shell. All its words together are its argument. */
function toShellCommand(
  command: Command,
  { run }: PromptCommand<TaskContext>,
  open: typeof lookAtTasks | typeof workOnTasks,
): Command {
  return command.action(async () => {
    await open(command.optsWithGlobals<TasksOptions>(), (context) => run(command.args.join(" "), context))
  })
}
