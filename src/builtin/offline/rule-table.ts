import { FILE_RULES } from "./file-rules.ts"
import type { OfferedTools } from "./offered-tools.ts"
import { PEOPLE_RULES } from "./people-rules.ts"
import { PLAN_RULES } from "./plan-rules.ts"
import type { Rule } from "./rule.ts"
import { SHELL_RULES } from "./shell-rules.ts"
import { SELF_DESCRIPTION, TALK_RULES } from "./talk-rules.ts"
import { TASK_RULES } from "./task-rules.ts"

const HELP: Rule = {
  sentence: "help",
  example: "what can you do?",
  meaning: "this list, with what is not offered here marked",
  tools: [],
  pattern: /^(?:help|\?|what can you do)\??[.!]?$/i,
  follow: (_words, offered) => ({ say: toHelp(offered) }),
}

/** All it understands. The first that fits is followed. */
export const RULES: readonly Rule[] = [
  HELP,
  ...TALK_RULES,
  ...TASK_RULES,
  ...SHELL_RULES,
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
