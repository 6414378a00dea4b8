import { z } from "zod"
import { lazily } from "./base/lazily.ts"
import { gcConfigSchema } from "./builtin/gc/gc-config.ts"
import { providersConfigSchema } from "./builtin/models/providers-config.ts"
import { permissionsConfigSchema } from "./builtin/permission/permission-policy.ts"
import { referencesConfigSchema } from "./builtin/references/reference.ts"
import { SESSION_SPELLINGS, sessionConfigSchema } from "./builtin/session/session-config.ts"
import { shellConfigSchema } from "./builtin/shell/shell-config.ts"
import { webConfigSchema } from "./builtin/web/web-config.ts"
import { findUrlProblem } from "./config/engine-url.ts"
import type { pluginEntrySchema } from "./config/plugin-entry.ts"
import type { SectionValues } from "./config/section.ts"
import { BACKGROUND_SPELLINGS, backgroundConfigSchema } from "./runner/limits/background-config.ts"
import { TASK_KINDS, type TaskKind } from "./task/record.ts"
import { agentConfigSchema } from "./session/conversation/agent-config.ts"
import { modelsConfigSchema } from "./session/model/model-facts.ts"
import { reportsConfigSchema } from "./session/conversation/report-config.ts"

/** In the program a person is there to read reports: they are on by default. */
const programReportsSchema = lazily(() =>
  reportsConfigSchema
    .unwrap()
    .extend({
      enabled: z
        .boolean()
        .default(true)
        .describe("Whether the agent reports the results of its background tasks by itself."),
    })
    .readonly(),
)

const engineSchema = z
  .string()
  .superRefine((text, { addIssue }) => {
    const message = findUrlProblem(text)
    if (message !== undefined) addIssue({ code: "custom", message })
  })
  .nullable()
  .default(null)

const onExitSchema = z.enum(["ask", "keep", "stop"]).default("ask")

/** A path below the folder. Which file it is decides what agents are told, so none may lead out of it. */
const instructionFilesSchema = lazily(() =>
  z
    .array(
      z.string().regex(/^(?!\/)(?!(?:.*\/)?\.\.(?:\/|$))[^\0]+$/, "must be a path below the folder, such as AGENTS.md"),
    )
    .readonly()
    .default(["AGENTS.md", "CLAUDE.md"]),
)

const workerSchema = lazily(() =>
  z
    .strictObject({
      kinds: z
        .array(z.enum(["tool", "agent"]))
        .min(1)
        .nullable()
        .default(null)
        .describe("Takes only tasks of these kinds; turns go with agents. null: of every kind."),
      drainSeconds: z
        .number()
        .nonnegative()
        .default(0)
        .describe("When it is stopped, how long tasks other than agents may go on to their end."),
    })
    .readonly(),
)

/** The sections of `meanwhile.config.*` beside `plugins`. Each schema belongs to the part that it configures. */
export const configSections = lazily(() => ({
  engine: engineSchema,
  agent: agentConfigSchema(),
  background: backgroundConfigSchema(),
  worker: workerSchema(),
  onExit: onExitSchema,
  instructionFiles: instructionFilesSchema(),
  reports: programReportsSchema(),
  permissions: permissionsConfigSchema,
  gc: gcConfigSchema(),
  session: sessionConfigSchema(),
  shell: shellConfigSchema(),
  web: webConfigSchema(),
  references: referencesConfigSchema,
  providers: providersConfigSchema(),
  models: modelsConfigSchema(),
}))
type ConfigSections = ReturnType<typeof configSections>

/** Other spellings of keys that a configuration may use. */
export const CONFIG_SPELLINGS = { background: BACKGROUND_SPELLINGS, session: SESSION_SPELLINGS } as const

/** A line about each section, in the order in which sections are shown. */
export const SECTION_SUMMARIES: Readonly<Record<keyof ConfigSections | "plugins", string>> = {
  engine: "Where everything is kept: the URL of a PostgreSQL database, or null for the data folder.",
  agent: "How agents work.",
  background: "The limits of tasks, and how the model sees them.",
  worker: "Which tasks `meanwhile worker` takes, and how it stops.",
  onExit: "What leaving a chat does to work that is under way: ask, keep it going, or stop what is the chat's own.",
  instructionFiles: "Files of the folder that every agent reads as instructions, once you trust each. []: none.",
  reports: "When the agent speaks without being asked, about what its tasks came to.",
  permissions: "Which calls agents may make without asking, and which never.",
  gc: "How old turns are collected when a conversation fills the model's context window.",
  session: "How conversations are kept.",
  shell: "The environment that commands get.",
  web: "How web pages are fetched.",
  references: "Documents that agents can look up.",
  providers:
    "Model providers by name, beside idleTimeoutSeconds: baseUrl, apiKeyEnv, project, location, organization, headers, api.",
  models: "Facts about models, by provider/name or pattern: contextLimitTokens, maxOutputTokens, price, modalities.",
  plugins: "Plugins of others: package names, paths from this folder, or { source, expose, config }.",
}

export type ProgramConfig = SectionValues<ConfigSections>

/** Turns go with agents: a worker that runs an agent must be able to continue its interrupted turns. */
export function toTakenKinds({ kinds }: ProgramConfig["worker"]): readonly TaskKind[] {
  return kinds ? kinds.flatMap((kind): TaskKind[] => (kind === "agent" ? ["agent", "turn"] : [kind])) : TASK_KINDS
}

type OtherSpellings<Name> = Name extends keyof typeof CONFIG_SPELLINGS
  ? { readonly [Spelling in keyof (typeof CONFIG_SPELLINGS)[Name]]?: number }
  : unknown

/** A whole configuration as a person writes it. Everything may be left out. */
export type ConfigInput = {
  readonly [Name in keyof ConfigSections]?: z.input<ConfigSections[Name]> & OtherSpellings<Name>
} & {
  /** Package names, paths, `{ source, expose, config }`, or plugins themselves. */
  readonly plugins?: readonly z.input<typeof pluginEntrySchema>[]
}
