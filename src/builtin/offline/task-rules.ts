import { toCommand, unquote } from "./quoted-text.ts"
import { callingRule, type Rule } from "./rule.ts"

export const TASK_RULES: readonly Rule[] = [
  {
    sentence: "start COMMAND in the background",
    example: "start `npm ci` in the background",
    meaning:
      "a shell command as a task from the start; without `start_task` it is run, and leaves the foreground when it takes long",
    tools: ["start_task"],
    pattern: /^start (?<command>.+?) in the background[.!]?$/is,
    follow(words, offered) {
      const input = { command: toCommand(words("command")) }
      if (offered.has("start_task") || !offered.has("run_command")) {
        return offered.call("start_task", { tool: "run_command", input })
      }
      const say =
        "I have no tool that starts a task at once, so I run it. It moves to the background when it takes long."
      return { say, ...offered.call("run_command", input) }
    },
  },
  callingRule({
    sentence: "list background tasks",
    example: "list background tasks",
    meaning: "what runs in the background, and what came of it",
    pattern: /^(?:list|show)(?: me)?(?: all| the| my)? (?:background )?tasks[.!]?$/i,
    tool: "list_tasks",
    input: () => ({}),
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
]
