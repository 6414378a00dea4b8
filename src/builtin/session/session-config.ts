import { z } from "zod"
import { MeanwhileError } from "../../base/error.ts"

const count = z.number().int().positive()

/** The section `session` of the configuration. */
export const sessionConfigSchema = z
  .strictObject({
    /** `engine`: the runtime's own store keeps conversations; `file`: they are kept in files beside it. */
    plugin: z.enum(["engine", "file"]).default("engine"),
    /** Where `file` keeps them, below the working directory unless it is absolute. */
    storagePath: z.string().min(1).default(".meanwhile/sessions"),
    autoSaveOnExit: z.boolean().default(true),
    /** It is saved after every so many turns. */
    checkpointAfterTurns: count.default(10),
    /** The model is asked for a description after so many turns without one. */
    requestDescriptionAfterTurns: count.default(3),
    /** `file` removes the files of the oldest conversations beyond this; lists show no more than this. */
    maxSessions: count.default(20),
  })
  .readonly()
export type SessionConfig = z.output<typeof sessionConfigSchema>

export function toSessionConfig(input: unknown = {}): SessionConfig {
  const parsed = sessionConfigSchema.safeParse(input)
  if (parsed.success) return parsed.data
  throw new MeanwhileError("invalid_input", `The session configuration is not valid.\n${z.prettifyError(parsed.error)}`)
}
