import type { JsonObject } from "../../base/json.ts"
import { toErrorMessage } from "../../base/error.ts"
import type { Behaviour } from "./offered-tools.ts"
import { unquote } from "./quoted-text.ts"
import type { Rule } from "./rule.ts"

export const SELF_DESCRIPTION =
  "I am the offline model of Meanwhile: a list of rules, not a language model. I follow a fixed list of English sentences and understand nothing else."

const SLOW_PACE_MS = 250
const HIGHEST_COUNT = 1_000

const NEEDING_NO_TOOL: readonly Omit<Rule, "tools">[] = [
  {
    sentence: "who are you",
    example: "who are you?",
    meaning: "says what it is",
    pattern: /^(?:who|what) are you\??$|^(?:hello|hi|hey)\b.*$/i,
    follow: () => ({ say: `${SELF_DESCRIPTION} Say "help" for the list.` }),
  },
  {
    sentence: "what tools do you have",
    example: "what tools do you have?",
    meaning: "names the tools it is offered now",
    pattern: /^(?:what|which) tools (?:do|can) you (?:have|use)\??$/i,
    follow: (_words, { names }) => ({
      say: names.length > 0 ? `I am offered: ${names.join(", ")}.` : "I am offered no tools.",
    }),
  },
  {
    sentence: "say TEXT",
    example: "say good morning",
    meaning: "repeats the text",
    pattern: /^say (?<text>.+)$/is,
    follow: (words) => ({ say: unquote(words("text")) }),
  },
  {
    sentence: "think about TEXT",
    example: "think about the weather",
    meaning: "shows reasoning before the answer",
    pattern: /^think about (?<text>.+)$/is,
    follow: (words) => ({
      think: `The person wants me to think about: ${words("text")}. I have rules, not thoughts; this text shows where a model's reasoning stands.`,
      say: `I have thought about ${words("text")} as far as rules can.`,
    }),
  },
  {
    sentence: "count to NUMBER slowly",
    example: "count to 3 slowly",
    meaning: "streams one number each quarter of a second",
    pattern: /^count to (?<number>\d{1,6}) slowly[.!]?$/i,
    follow: (words) => ({ say: count(Number(words("number"))), paceMs: SLOW_PACE_MS }),
  },
  {
    sentence: "count to NUMBER",
    example: "count to 5",
    meaning: "streams the numbers at once, up to 1000",
    pattern: /^count to (?<number>\d{1,6})[.!]?$/i,
    follow: (words) => ({ say: count(Number(words("number"))) }),
  },
  {
    sentence: "call TOOL with JSON",
    example: 'call readFile with {"path":"notes.txt"}',
    meaning: "any tool it is offered, with exactly this input",
    pattern: /^call (?:the tool )?`?(?<tool>[\w-]+(?:\.[\w-]+)*)`?(?: with (?<json>.+))?$/is,
    follow: (words, offered) => withJson(words("json"), (input) => offered.call(words("tool"), input)),
  },
]

export const TALK_RULES: readonly Rule[] = NEEDING_NO_TOOL.map((rule) => ({ ...rule, tools: [] }))

function count(to: number): string {
  return Array.from({ length: Math.min(to, HIGHEST_COUNT) }, (_, index) => index + 1).join(" ")
}

function withJson(text: string, use: (input: JsonObject) => Behaviour): Behaviour {
  try {
    const input: unknown = JSON.parse(text === "" ? "{}" : unquote(text))
    if (typeof input === "object" && input !== null && !Array.isArray(input)) return use(input as JsonObject)
    return { say: "The input of a tool is an object: write it as {…}." }
  } catch (error) {
    return {
      say: `What stands behind "with" is not JSON (${toErrorMessage(error)}). Write it like {"path":"notes.txt"}.`,
    }
  }
}
