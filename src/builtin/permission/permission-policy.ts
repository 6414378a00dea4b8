import { z } from "zod"
import { EFFECTS } from "../../plugin/effect.ts"

const glob = z.string().min(1, "must not be empty; * stands for anything")

const ruleSchema = z.strictObject({
  tool: glob.describe("Names of tools, with * and ?."),
  plugin: glob.optional().describe("Names of plugins, with * and ?."),
  arguments: z
    .record(z.string(), glob)
    .optional()
    .describe("Fields of the input, such as `command` or `options.path`, with what their values must match."),
  match: glob.optional().describe("What the JSON text of the whole input must match."),
  effects: z
    .array(z.enum(EFFECTS))
    .optional()
    .describe("deny, ask: calls that have one of these. allow: calls that have no others."),
  decision: z.enum(["allow", "deny", "ask"]),
  reason: z.string().optional().describe("Told to the model, or to the person who is asked."),
})

/** The section `permissions` of the configuration. */
export const permissionsConfigSchema = z.strictObject({
  mode: z
    .enum(["default", "allow_all", "deny_effects"])
    .default("default")
    .describe("Whether calls with effects that no rule matches are asked, allowed or refused."),
  rules: z.array(ruleSchema).default([]).describe("Which calls are allowed, refused or asked. deny wins."),
  inherit: z
    .boolean()
    .default(false)
    .describe("Whether the subagents of a session may do what a person has allowed the session."),
  approvalExpirySeconds: z
    .number()
    .positive()
    .nullable()
    .default(86_400)
    .describe("How long an unanswered question waits in the inbox; then it means no. null: for ever."),
})

export type PermissionPolicy = z.output<typeof permissionsConfigSchema>
export type PermissionRule = PermissionPolicy["rules"][number]
