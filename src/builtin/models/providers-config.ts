import { z } from "zod"
import { lazily } from "../../base/lazily.ts"
import { OPENAI_APIS, PROVIDER_NAMES, type ProvidersSection, rowOf, settingsOf } from "./provider-table.ts"

const NAME = /^[a-z][a-z0-9_-]{0,63}$/
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/
const KEY_SHAPE = /^(sk|gsk|xai|AIza|hf|key)[-_A-Za-z0-9]*[-_0-9]/
const CREDENTIAL_HEADER = /auth|key|token|secret|cookie|password|credential|signature/i

const settings = lazily(() => {
  const baseUrl = z
    .string()
    .refine((text) => ["http:", "https:"].includes(URL.parse(text)?.protocol ?? ""), "must be an http or https URL")
    .refine((text) => !URL.parse(text)?.username && !URL.parse(text)?.password, "must hold no password: use apiKeyEnv")
  /** Names are checked; values are never repeated in an error. */
  const headers = z.record(z.string(), z.string()).superRefine((record, context) => {
    for (const name of Object.keys(record).filter((name) => CREDENTIAL_HEADER.test(name))) {
      const message = "carries credentials: name the variable that holds the key in apiKeyEnv instead"
      context.addIssue({ code: "custom", path: [name], message })
    }
  })
  return z.strictObject({
    /** Where the API is, up to and including its version: `https://api.example.com/v1`. */
    baseUrl: baseUrl.optional(),
    /** The name of the environment variable that holds the key. Never the key itself. */
    apiKeyEnv: z
      .string()
      .refine(
        (text) => VARIABLE.test(text) && !KEY_SHAPE.test(text),
        "must be the name of a variable, never a key itself",
      )
      .optional(),
    /** The project of Google Cloud, or of OpenAI. */
    project: z.string().min(1).optional(),
    location: z
      .string()
      .regex(/^[a-z0-9-]+$/, "must be a location such as global or europe-west4")
      .optional(),
    organization: z.string().min(1).optional(),
    headers: headers.optional(),
    /** The API that OpenAI's models are spoken to in, wherever it is. */
    api: z.enum(OPENAI_APIS).optional(),
  })
})

/** The configuration's section `providers`: settings by provider, and what holds for all of them. */
export const providersConfigSchema = lazily(
  (): z.ZodType<ProvidersSection, ProvidersSection> =>
    z
      .object({
        idleTimeoutSeconds: z
          .number()
          .positive()
          .default(60)
          .describe("How long a provider may send nothing before its call is given up."),
      })
      .catchall(settings())
      .superRefine((section, context) => {
        for (const [name, given] of Object.entries(settingsOf(section))) {
          if (!NAME.test(name)) {
            const message = "must begin with a lower-case letter and have lower-case letters, digits, - and _"
            context.addIssue({ code: "custom", path: [name], message })
          }
          if (!PROVIDER_NAMES.includes(name) && given.baseUrl === undefined) {
            const message = `is needed: only ${PROVIDER_NAMES.join(", ")} are known without one`
            context.addIssue({ code: "custom", path: [name, "baseUrl"], message })
          }
          const allowed: readonly string[] = rowOf(name).settings
          for (const key of Object.keys(given).filter((key) => !allowed.includes(key))) {
            const message = `means nothing to ${name}, which takes ${allowed.join(", ")}`
            context.addIssue({ code: "custom", path: [name, key], message })
          }
        }
      }),
)
