import { toCommand, toCommands, unquote } from "./quoted-text.ts"
import { callingRule, type Rule } from "./rule.ts"
import { toOneLine } from "../../base/one-line.ts"
import type { Behaviour, OfferedTools } from "./offered-tools.ts"
import { shortenMiddle } from "../../base/shorten.ts"

/** Commands, and what goes on in the background. */
export const TASK_RULES: readonly Rule[] = [
  {
    sentence: "start an agent to TASK",
    example: "start an agent to run `npm test`",
    meaning: "hands a sentence to another agent, which works in the background",
    tools: ["start_agent"],
    pattern: /^start an? (?:sub)?agent to (?<task>.+)$/is,
    follow: (words, offered) => startAgent(unquote(words("task")), offered),
  },
  {
    sentence: "start COMMAND in the background",
    example: "start `npm ci` in the background",
    meaning:
      "a shell command as a task from the start; without `start_task` it is run, and leaves the foreground when it takes long",
    tools: ["start_task"],
    pattern: /^start (?<command>.+?) in the background[.!]?$/is,
    follow(words, offered) {
      const command = toCommand(words("command"))
      const started = startCommand(command, offered)
      if (started) return started
      if (!offered.has("run_command")) return offered.call("start_task", {})
      const say =
        "I have no tool that starts a task at once, so I run it. It moves to the background when it takes long."
      return { say, ...offered.call("run_command", { command }) }
    },
  },
  {
    sentence: "run COMMAND and COMMAND together",
    example: "run `npm test`, `npm run check` and `npm run build` together",
    meaning: "commands as tasks of one group, which is reported as one; `together as NAME` names the group",
    tools: ["start_task"],
    pattern: /^run (?<commands>.+ and .+) together(?: as (?<group>[^`]+?))?[.!]?$/is,
    follow(words, offered) {
      const group = unquote(words("group")) || "together"
      return callForEach(words("commands"), (command) =>
        offered.call("start_task", { tool: "run_command", input: { command }, group }),
      )
    },
  },
  callingRule({
    sentence: "wait for task ID",
    example: "wait for task 3f2a",
    meaning: "holds the answer until the task has ended; `wait for the tasks` until all have",
    pattern: /^wait for (?:task (?<task>\S+?)|(?:the|all|all the|my) tasks)[.!]?$/i,
    tool: "wait_for",
    input: (words) => (words("task") === "" ? {} : { tasks: [unquote(words("task"))] }),
  }),
  callingRule({
    sentence: "tell task ID TEXT",
    example: "tell task 3f2a say hello",
    meaning: "says something to an agent in the background; one that has completed goes on with it",
    pattern: /^tell task (?<task>\S+?):? (?<text>.+)$/is,
    tool: "send_to_task",
    input: (words) => ({ task_id: unquote(words("task")), message: unquote(words("text")) }),
  }),
  callingRule({
    sentence: "list background tasks",
    example: "list background tasks",
    meaning: "the tasks in the background, and their results",
    pattern: /^(?:list|show)(?: me)?(?: all| the| my)? (?:background )?tasks[.!]?$/i,
    tool: "list_tasks",
  }),
  callingRule({
    sentence: "show task ID",
    example: "show task 3f2a",
    meaning: "one task in detail",
    pattern: /^(?:show|get)(?: me)?(?: background)? task (?<task>\S+?)[.!]?$/i,
    tool: "get_task",
    input: (words) => ({ task_id: unquote(words("task")) }),
  }),
  callingRule({
    sentence: "cancel task ID",
    example: "cancel task 3f2a",
    meaning: "stops a task",
    pattern: /^(?:cancel|stop)(?: background)? task (?<task>\S+?)[.!]?$/i,
    tool: "cancel_task",
    input: (words) => ({ task_id: unquote(words("task")) }),
  }),
  callingRule({
    sentence: "cancel group NAME",
    example: "cancel group checks",
    meaning: "stops all tasks of a group",
    pattern: /^(?:cancel|stop)(?: the)? group (?<group>.+?)[.!]?$/i,
    tool: "cancel_task",
    input: (words) => ({ group: unquote(words("group")) }),
  }),
  {
    sentence: "run COMMAND and COMMAND",
    example: "run `sleep 12 && echo done` and `date`",
    meaning: "several commands at once, in one answer; `and` inside backticks or quotes belongs to the command",
    tools: ["run_command"],
    pattern: /^run (?<commands>.+ and .+)$/is,
    follow: (words, offered) => callForEach(words("commands"), (command) => offered.call("run_command", { command })),
  },
  callingRule({
    sentence: "run COMMAND",
    example: "run `sleep 12 && echo done`",
    meaning: "a shell command, with or without backticks",
    pattern: /^run (?<command>.+)$/is,
    tool: "run_command",
    input: (words) => ({ command: toCommand(words("command")) }),
  }),
]

/** One call for each command, all in one answer, or the sentence why there is none. */
function callForEach(commands: string, toCall: (command: string) => Behaviour): Behaviour {
  const behaviours = toCommands(commands).map(toCall)
  const [first] = behaviours
  return first?.say === undefined ? { calls: behaviours.flatMap(({ calls = [] }) => calls) } : first
}

const DESCRIPTION_CHARACTERS = 80

/** A command in the background from the start, by the first of the vocabularies' tools that is offered. */
function startCommand(command: string, offered: OfferedTools): Behaviour | undefined {
  const input = { command }
  if (offered.has("start_task")) return offered.call("start_task", { tool: "run_command", input })
  if (offered.has("startBackgroundTask")) {
    return offered.call("startBackgroundTask", { tool_name: "run_command", arguments: input })
  }
  if (offered.has("tasks.spawn")) {
    return offered.call("tasks.spawn", { mode: "job", tool_name: "run_command", tool_args: input })
  }
  // That vocabulary has agents only: one of them runs the command.
  return offered.has("background_task") ? startAgent(`run \`${command}\``, offered) : undefined
}

/** Starts an agent in the same way; if no such tool is offered, says which one is missing. */
function startAgent(task: string, offered: OfferedTools): Behaviour {
  if (offered.has("background_task")) {
    const description = shortenMiddle(toOneLine(task), DESCRIPTION_CHARACTERS)
    return offered.call("background_task", { description, prompt: task })
  }
  if (offered.has("tasks.spawn")) return offered.call("tasks.spawn", { mode: "subagent", query: task })
  return offered.call("start_agent", { task })
}
