import type { Behaviour, OfferedTools } from "./offered-tools.ts"
import { splitOutsideQuotes } from "./quoted-text.ts"
import type { Rule } from "./rule.ts"
import { shortenMiddle } from "../../base/shorten.ts"
import { SELF_DESCRIPTION, TALK_RULES } from "./talk-rules.ts"
import { FILE_RULES } from "./file-rules.ts"
import { PEOPLE_RULES } from "./people-rules.ts"
import { PLAN_RULES } from "./plan-rules.ts"
import { TASK_RULES } from "./task-rules.ts"

const POLITE = /^(?:please|can you|could you|would you|now|first)[\s,]+/i
const POLITE_END = /,? please[.!?]?$/i

/**
 * Reacts to the person's words, answer by answer: a sentence that calls tools ends an answer, and the part after "then"
 * is done when the results are there.
 */
export function planAnswers(words: string, offered: OfferedTools): readonly Behaviour[] {
  const answers: Behaviour[] = []
  let open: Behaviour | undefined
  for (const { rule, match } of toFollowable(words)) {
    const next = rule.follow((name) => match.groups?.[name]?.trim() ?? "", offered)
    const joined: Behaviour = open ? join(open, next) : next
    open = joined.calls ? undefined : joined
    if (joined.calls) answers.push(joined)
  }
  if (open) answers.push(open)
  return answers.length > 0 ? answers : [toConfession(words)]
}

interface Followable {
  readonly rule: Rule
  readonly match: RegExpMatchArray
}

/** The parts between "then", when each of them is a sentence by itself; else the whole as one. */
function toFollowable(words: string): readonly Followable[] {
  const parts = splitOutsideQuotes(words, " then ").map((part) => part.replace(/(?:,|;|\.| and|, and)$/i, ""))
  const followed = parts.map(findRule)
  if (parts.length > 1 && followed.every((found) => found !== undefined)) return followed
  const whole = findRule(words) ?? findRule(words.split("\n", 1)[0] ?? "")
  return whole ? [whole] : []
}

function findRule(words: string): Followable | undefined {
  let sentence = words.trim().replace(POLITE_END, "")
  while (POLITE.test(sentence)) sentence = sentence.replace(POLITE, "")
  for (const rule of RULES) {
    const match = sentence.match(rule.pattern)
    if (match) return { rule, match }
  }
  return undefined
}

function join(a: Behaviour, b: Behaviour): Behaviour {
  const say = [a.say, b.say].filter((text) => text !== undefined).join("\n\n")
  const think = [a.think, b.think].filter((text) => text !== undefined).join("\n")
  return { ...a, ...b, ...(say !== "" && { say }), ...(think !== "" && { think }) }
}

function toConfession(words: string): Behaviour {
  return { say: `${SELF_DESCRIPTION} I did not understand "${shortenMiddle(words, 200)}". Say "help" for the list.` }
}

const HELP: Rule = {
  sentence: "help",
  example: "what can you do?",
  meaning: "this list, with what is not offered here marked",
  tools: [],
  pattern: /^(?:help|\?|what can you do)\??[.!]?$/i,
  follow: (_words, offered) => ({ say: toHelp(offered) }),
}

/** All sentences that the model understands. The first match is followed. */
export const RULES: readonly Rule[] = [
  HELP,
  ...TALK_RULES,
  ...TASK_RULES,
  ...FILE_RULES,
  ...PLAN_RULES,
  ...PEOPLE_RULES,
]

function toHelp(offered: OfferedTools): string {
  const lines = RULES.map(({ sentence, meaning, tools }) => {
    const missing = tools.filter((tool) => !offered.has(tool))
    const note = missing.length > 0 ? ` (not here: no ${missing.join(", ")})` : ""
    return `- ${sentence}: ${meaning}${note}`
  })
  return `${SELF_DESCRIPTION}\n\nWords in capitals are yours.\n\n${lines.join("\n")}\n\nJoin sentences with ", then" to have one after the other.`
}
