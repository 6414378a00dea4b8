import type { EnrichPrompt } from "./prompt-enrichment.ts"
import type { Tool } from "./tool.ts"
import type { UserCommand } from "./user-command.ts"

/** What a plugin adds to a conversation. A tool plugin is nothing else; a session plugin may do it beside its work. */
export interface Contribution {
  readonly tools?: readonly Tool[]
  /** Put before the model while the plugin is exposed. */
  readonly systemInstructions?: string | (() => string)
  /** Tools of this plugin that need no permission. */
  readonly autoApprovedTools?: readonly string[]
  readonly userCommands?: readonly UserCommand[]
  readonly enrichPrompt?: EnrichPrompt
}
