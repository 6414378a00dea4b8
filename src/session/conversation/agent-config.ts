import { z } from "zod"
import { MeanwhileError } from "../../base/error.ts"
import { lazily } from "../../base/lazily.ts"

/** How agents work. Every key has a default that works; `docs/guide/configuration.md` explains each. */
export const agentConfigSchema = lazily(() => {
  const count = z.number().int().positive()
  return z
    .strictObject({
      model: z
        .string()
        .regex(/^[^/\s]+\/\S+$/, 'must be "provider/name", such as "anthropic/claude-sonnet-5-5"')
        .nullable()
        .default(null)
        .describe(
          "The model, as provider/name. null: one of the first provider that has a key, else the built-in offline model.",
        ),
      instructions: z.string().default("").describe("Text that the model is given first in every session."),
      maxStepsPerTurn: count
        .default(50)
        .describe("Model calls in one turn. The last of them gets no tools, so that the model hands back what it has."),
      maxOutputTokens: count
        .nullable()
        .default(null)
        .describe("The most tokens of one answer. null: the provider's own limit."),
      temperature: z
        .number()
        .min(0)
        .max(2)
        .nullable()
        .default(null)
        .describe("The sampling temperature. null: the provider's default."),
      maxModelRetries: z
        .number()
        .int()
        .nonnegative()
        .default(5)
        .describe("How often a model call is made again after an error that may pass."),
      modelRetryBaseSeconds: z.number().positive().default(1).describe("The wait before the first retry; it doubles."),
      maxModelRetryWaitSeconds: z
        .number()
        .positive()
        .default(60)
        .describe("A provider that asks to wait longer is not waited for."),
      toolResultLimitCharacters: count
        .min(1_000)
        .default(30_000)
        .describe("How much of a tool's result the model sees. The middle of a longer one is left out."),
    })
    .readonly()
})

export type AgentConfig = z.output<ReturnType<typeof agentConfigSchema>>
export type AgentConfigInput = z.input<ReturnType<typeof agentConfigSchema>>

export function toAgentConfig(input: AgentConfigInput = {}): AgentConfig {
  const parsed = agentConfigSchema().safeParse(input)
  if (parsed.success) return parsed.data
  throw new MeanwhileError("invalid_input", `The agent configuration is not valid.\n${z.prettifyError(parsed.error)}`)
}
