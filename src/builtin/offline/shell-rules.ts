import { toCommand, toCommands } from "./quoted-text.ts"
import { callingRule, type Rule } from "./rule.ts"

export const SHELL_RULES: readonly Rule[] = [
  {
    sentence: "run COMMAND and COMMAND",
    example: "run `sleep 12 && echo done` and `date`",
    meaning: "several commands at once, in one answer; `and` inside backticks or quotes belongs to the command",
    tools: ["run_command"],
    pattern: /^run (?<commands>.+ and .+)$/is,
    follow(words, offered) {
      const commands = toCommands(words("commands"))
      const behaviours = commands.map((command) => offered.call("run_command", { command }))
      const [first] = behaviours
      return first?.say === undefined ? { calls: behaviours.flatMap(({ calls = [] }) => calls) } : first
    },
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
