import type { EnrichPrompt } from "./prompt-enrichment.ts"
import type { Tool } from "./tool.ts"
import type { UserCommand } from "./user-command.ts"

/** The additions of a plugin to a conversation. A tool plugin consists of them; a session plugin may have some too. */
export interface Contribution {
  readonly tools?: readonly Tool[]
  /** True: only sessions whose list of tools names the plugin are offered its tools, and no other session is told of them. */
  readonly isPrivate?: boolean
  /** Given to the model while the plugin is exposed. */
  readonly systemInstructions?: string | (() => string)
  /** Tools of this plugin that need no permission. */
  readonly autoApprovedTools?: readonly string[]
  readonly userCommands?: readonly UserCommand[]
  readonly enrichPrompt?: EnrichPrompt
}
