import { z } from "zod"
import { lazily } from "../../base/lazily.ts"

/** The section `shell` of the configuration. */
export const shellConfigSchema = lazily(() =>
  z
    .strictObject({
      passModelKeys: z
        .boolean()
        .default(false)
        .describe(
          "Whether commands see the keys of model providers. Without it nothing that a model runs can carry them away.",
        ),
      extraPaths: z
        .array(z.string().startsWith("/", "must be an absolute path"))
        .default([])
        .describe("Folders to look for programs in, after those of PATH."),
    })
    .readonly(),
)
