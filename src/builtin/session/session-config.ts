import { z } from "zod"
import { MeanwhileError } from "../../base/error.ts"
import { lazily } from "../../base/lazily.ts"
import { renameKeys, requireOneSpelling } from "../../base/rename-keys.ts"

/** The section `session` of the configuration. */
export const sessionConfigSchema = lazily(() => {
  const count = z.number().int().positive()
  return z
    .strictObject({
      plugin: z
        .enum(["engine", "file"])
        .default("engine")
        .describe("engine: the runtime's own store keeps conversations. file: they are kept in files beside it."),
      storagePath: z
        .string()
        .min(1)
        .default(".meanwhile/sessions")
        .describe("The folder in which file keeps conversations, below the working directory unless it is absolute."),
      autoSaveOnExit: z.boolean().default(true).describe("Whether a conversation is saved when it ends."),
      checkpointAfterTurns: count.default(10).describe("A conversation is saved after every so many turns."),
      requestDescriptionAfterTurns: count
        .default(3)
        .describe("The model is asked for a description after so many turns without one."),
      retentionSeconds: z
        .number()
        .positive()
        .nullable()
        .default(null)
        .describe(
          "A conversation that nobody has used for so long is deleted by a process that takes work. null: never.",
        ),
      maxKept: count
        .default(20)
        .describe("file removes the files of the oldest conversations beyond this; lists show no more than this."),
    })
    .readonly()
})

/** Other spellings of its keys. */
export const SESSION_SPELLINGS = { maxSessions: "maxKept" } as const

export type SessionConfig = z.output<ReturnType<typeof sessionConfigSchema>>
export type SessionConfigInput = z.input<ReturnType<typeof sessionConfigSchema>>

export function toSessionConfig(input: unknown = {}): SessionConfig {
  requireOneSpelling(Object(input) as object, SESSION_SPELLINGS)
  const parsed = sessionConfigSchema().safeParse(renameKeys(input, SESSION_SPELLINGS))
  if (parsed.success) return parsed.data
  throw new MeanwhileError("invalid_input", `The session configuration is not valid.\n${z.prettifyError(parsed.error)}`)
}
