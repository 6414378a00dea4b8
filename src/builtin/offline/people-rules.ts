import { toList, unquote } from "./quoted-text.ts"
import { callingRule, type Rule, type Words } from "./rule.ts"

/** Other agents, the person, and the conversation itself. */
export const PEOPLE_RULES: readonly Rule[] = [
  callingRule({
    sentence: "ask a subagent to TASK",
    example: "ask a subagent to run `date`",
    meaning: "hands a sentence to another agent; `ask the NAME subagent to TASK` takes that profile",
    pattern: /^ask (?:a|the|another) (?:(?<profile>[\w-]+) )?subagent to (?<task>.+)$/is,
    tool: "spawn_subagent",
    input: (words) => ({
      task: unquote(words("task")),
      ...(words("profile") !== "" && { profile: words("profile") }),
    }),
  }),
  callingRule({
    sentence: "list profiles",
    example: "list profiles",
    meaning: "the kinds of subagents there are",
    pattern: /^(?:list|show)(?: me)?(?: the)? (?:subagent )?profiles[.!]?$/i,
    tool: "list_subagent_profiles",
  }),
  callingRule({
    sentence: "ask me QUESTION",
    example: "ask me which colour: red, green or blue",
    meaning: "asks the person; behind a colon are answers to choose from",
    pattern: /^ask me (?<question>[^:]+)(?::\s*(?<options>.+))?$/is,
    tool: "request_clarification",
    input: (words) => ({ context: "The person asked to be asked.", questions: [toQuestion(words)] }),
  }),
  callingRule({
    sentence: "ask permission to use TOOL because REASON",
    example: "ask permission to use removeFile because it is old",
    meaning: "asks ahead for a tool",
    pattern: /^ask (?:for )?permission to use (?<tool>[\w-]+) because (?<reason>.+)$/is,
    tool: "askPermission",
    input: (words) => ({ tool: words("tool"), reason: words("reason") }),
  }),
  callingRule({
    sentence: "use the command NAME with ARGUMENTS",
    example: "use the command review with main.ts",
    meaning: "fetches the text of a slash command; the arguments may be left out",
    pattern: /^use (?:the )?(?:slash )?command \/?(?<name>[\w-]+)(?: with (?<arguments>.+))?$/is,
    tool: "processCommand",
    input: (words) => ({ command_name: words("name"), args: words("arguments") }),
  }),
  callingRule({
    sentence: "describe this session as TEXT",
    example: "describe this session as planning the release",
    meaning: "names the conversation for the list of sessions",
    pattern: /^describe (?:this|the) (?:session|conversation) as (?<text>.+)$/is,
    tool: "session_describe",
    input: (words) => ({ description: unquote(words("text")) }),
  }),
]

function toQuestion(words: Words) {
  const question = unquote(words("question"))
  return { question, ...(words("options") !== "" && { options: toList(words("options")) }) }
}
