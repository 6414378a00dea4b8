import { z } from "zod"
import { lazily } from "../../base/lazily.ts"
import { toOneLine } from "../../base/one-line.ts"
import { leftOut } from "../../plugin/left-out.ts"

/** A kind of subagent: what it is for, which model it uses, which tools it may have, and how it works. */
export interface Profile {
  readonly name: string
  /** One line, by which the parent chooses a profile. */
  readonly description: string
  /** `provider/name`. Default: the parent's model. */
  readonly model?: string
  /** Names of tools, or of plugins for all of their tools, among those that the parent has. Default: all of them. */
  readonly tools?: readonly string[]
  readonly instructions: string
}

const LONGEST_LINE = 300
const LONGEST_INSTRUCTIONS = 64 * 1024

export const profileSchema = lazily(() => {
  const line = z.string().overwrite(toOneLine).max(LONGEST_LINE)
  return z.strictObject({
    name: z.string().regex(/^[A-Za-z0-9][\w.-]{0,63}$/, "must have letters, digits, dots, - and _ only, at most 64"),
    description: line.min(1),
    model: leftOut(
      z.string().regex(/^[^/\s]+\/\S+$/, 'must be "provider/name", such as "anthropic/claude-sonnet-4-5"'),
    ),
    tools: leftOut(z.array(line.min(1))),
    instructions: z
      .string()
      .max(LONGEST_INSTRUCTIONS)
      .refine((text) => text.trim() !== "", "must not be empty: say how the subagent works"),
  })
})
