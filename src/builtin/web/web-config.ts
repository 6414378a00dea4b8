import { z } from "zod"
import { lazily } from "../../base/lazily.ts"

/** The section `web` of the configuration. */
export const webConfigSchema = lazily(() => {
  const durationMs = z.number().int().positive()
  return z
    .strictObject({
      allowPrivateHosts: z
        .array(z.string().min(1))
        .default([])
        .describe("Hosts, as host or host:port, whose private addresses may be fetched."),
      maxBytes: z
        .number()
        .int()
        .positive()
        .default(5 * 1024 * 1024)
        .describe("How much of a page is read, after unpacking."),
      idleTimeoutMs: durationMs.default(30_000).describe("Without a byte for so long, a connection is given up."),
      totalTimeoutMs: durationMs
        .gt(10_000, "must be above 10000, when a call moves to the background")
        .default(120_000)
        .describe("The longest a call takes, retries and redirects included."),
      retryDelaysMs: z
        .array(z.number().int().nonnegative())
        .default([500, 2_000])
        .describe("How long to wait before each further try."),
      userAgent: z
        .string()
        .min(1)
        .default("Meanwhile (agent; fetch_url)")
        .describe("The user agent that servers are told."),
    })
    .readonly()
})
