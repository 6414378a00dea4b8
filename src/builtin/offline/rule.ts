import type { JsonObject } from "../../base/json.ts"
import type { Behaviour, OfferedTools } from "./offered-tools.ts"

/** The person's words in place of a word in capitals; empty if there are none. */
export type Words = (name: string) => string

/** One sentence the offline model understands. */
export interface Rule {
  /** As help and the guide list it. Words in capitals are the person's. */
  readonly sentence: string
  readonly example: string
  readonly meaning: string
  /** The tools it needs; without one of them it says so. */
  readonly tools: readonly string[]
  /** Matched against the whole sentence, its groups are the words. */
  readonly pattern: RegExp
  follow(words: Words, offered: OfferedTools): Behaviour
}

interface CallingRule extends Omit<Rule, "tools" | "follow"> {
  readonly tool: string
  /** The call's input, under the tool's own names; a tool with other names for the same gets those. Default: no input. */
  readonly input?: (words: Words) => JsonObject
}

/** The plain case: one sentence, one call. */
export function callingRule({ tool, input = () => ({}), ...rule }: CallingRule): Rule {
  return { ...rule, tools: [tool], follow: (words, offered) => offered.call(tool, input(words)) }
}
