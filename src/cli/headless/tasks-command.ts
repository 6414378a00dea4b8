import { Command, InvalidArgumentError } from "commander"
import type { Command as PromptCommand, TaskContext } from "../command/command.ts"
import { cancelCommand } from "../command/cancel-command.ts"
import { clearCommand } from "../command/clear-command.ts"
import { groupsCommand } from "../command/groups-command.ts"
import { answerCommand, inboxCommand } from "../command/inbox-commands.ts"
import { retryCommand, taskCommand, tasksCommand } from "../command/task-commands.ts"
import { formatCounts } from "../command/task-counts.ts"
import { tellCommand } from "../command/tell-command.ts"
import { plain } from "../format/format.ts"
import type { GlobalOptions } from "../start/open-runtime.ts"
import { showSharedOptions, STORE_OPTIONS } from "../start/shared-options.ts"
import { toJsonLine } from "./json-line.ts"
import { printOutput } from "./print-output.ts"
import { lookAtTasks, workOnTasks } from "./with-tasks.ts"

const MOST_LISTED = 100

const AFTER = `
Exit codes: 0 done, 1 a task that was waited for failed, 2 refused, 3 stopped before the end, 4 a person is needed.`

interface TasksOptions extends GlobalOptions {
  readonly json?: true
  readonly all?: true
  readonly follow?: true
}

/** `meanwhile tasks`: the commands about tasks without a chat. */
export function createTasksCommand(): Command {
  const tasks = new Command("tasks").description(
    "list, show, cancel, retry and clear background tasks, and talk to agents among them",
  )
  tasks.addCommand(createListCommand(), { isDefault: true })
  tasks.addCommand(createShowCommand())
  tasks.addCommand(
    withId("output", "show what a task has printed")
      .option("--follow", "until it ends")
      .action(async (id: string, _: object, command: Command) => {
        const { follow, ...options } = command.optsWithGlobals<TasksOptions>()
        await lookAtTasks(options, (context) => printOutput(id, follow === true, context))
      }),
  )
  tasks.addCommand(createCountCommand())
  const cancel = new Command("cancel").description(cancelCommand.summary)
  cancel.argument("<id|group>", "the first characters are enough, or a group's name", toName)
  tasks.addCommand(toShellCommand(cancel, cancelCommand, lookAtTasks))
  tasks.addCommand(
    toShellCommand(withId("retry", `${retryCommand.summary}, and wait for it`), retryCommand, workOnTasks),
  )
  tasks.addCommand(createClearCommand())
  tasks.addCommand(toShellCommand(new Command("groups").description(groupsCommand.summary), groupsCommand, lookAtTasks))
  tasks.addCommand(toShellCommand(new Command("inbox").description(inboxCommand.summary), inboxCommand, lookAtTasks))
  const answer = withId("answer", `${answerCommand.summary}, and wait for it`).argument(
    "<answer...>",
    "yes, no, the number of an option, or text",
  )
  tasks.addCommand(toShellCommand(answer, answerCommand, workOnTasks))
  const tell = withId("tell", `${tellCommand.summary}, which is waited for`).argument("<text...>", "what to say")
  tasks.addCommand(toShellCommand(tell, tellCommand, workOnTasks))
  tasks.addHelpText("after", AFTER)
  return showSharedOptions(tasks, [...STORE_OPTIONS, "--trust"])
}

function createListCommand(): Command {
  return new Command("list")
    .description("list the newest tasks")
    .allowExcessArguments()
    .option("--all", "with the turns of conversations")
    .option("--json", `one JSON object a line, ${MOST_LISTED} at most`)
    .action(async (_: object, command: Command) => {
      refuseWords(command)
      const { all, json, ...options } = command.optsWithGlobals<TasksOptions>()
      await lookAtTasks(options, async (context) => {
        if (!json) return tasksCommand.run(all ? "all" : "", context)
        const { items } = await context.desk.tasks.list(all ? {} : { kinds: "work" }, { limit: MOST_LISTED })
        for (const item of items) context.screen.print(toJsonLine(item))
      })
    })
}

/** An unknown word arrives at the default command. */
function refuseWords({ args: [word], parent }: Command): void {
  if (word === undefined) return
  const names = parent?.commands.map((command) => command.name()).join(", ")
  parent?.error(`error: there is no command ${JSON.stringify(plain(word))} for tasks; there are ${names}`)
}

function createShowCommand(): Command {
  return withId("show", taskCommand.summary)
    .option("--json", "as one JSON object")
    .action(async (id: string, _: object, command: Command) => {
      const { json, ...options } = command.optsWithGlobals<TasksOptions>()
      await lookAtTasks(options, async (context) => {
        if (!json) return taskCommand.run(id, context)
        context.screen.print(toJsonLine(await context.desk.tasks.find(id)))
      })
    })
}

function createCountCommand(): Command {
  return new Command("count")
    .description("how many tasks there are of each status, and how old the queue is")
    .option("--json", "as one JSON object")
    .action(async (_: object, command: Command) => {
      const { json, ...options } = command.optsWithGlobals<TasksOptions>()
      await lookAtTasks(options, async ({ desk, screen }) => {
        const counts = await desk.tasks.counts({ kinds: "work" })
        screen.print(json ? toJsonLine(counts) : formatCounts(counts) || "No tasks yet.")
      })
    })
}

function createClearCommand(): Command {
  return new Command("clear")
    .description(
      "forget tasks that have ended, with their output; results that a conversation has not used yet stay. In a store " +
        "that others share: those that were begun with this data folder",
    )
    .option("--all", "in a store that others share: everybody's")
    .action(async (_: object, command: Command) => {
      const { all, ...options } = command.optsWithGlobals<TasksOptions>()
      await lookAtTasks(options, (context) => clearCommand.run("", all ? { ...context, own: null } : context))
    })
}

function withId(name: string, description: string): Command {
  return new Command(name).description(description).argument("<id>", "the first characters are enough", toName)
}

/** A script may hand on an empty word. */
function toName(word: string): string {
  if (word.trim() === "") throw new InvalidArgumentError("It is empty. `meanwhile tasks` lists the ids.")
  return word
}

/** A command of the prompt under the name it has in the shell, its argument made of all the words. */
function toShellCommand(
  command: Command,
  { run }: PromptCommand<TaskContext>,
  open: typeof lookAtTasks | typeof workOnTasks,
): Command {
  return command.action(async () => {
    await open(command.optsWithGlobals<TasksOptions>(), (context) => run(command.args.join(" "), context))
  })
}
