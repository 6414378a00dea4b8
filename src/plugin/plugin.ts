import type { GcPlugin } from "./gc-plugin.ts"
import type { ModelProviderPlugin } from "./model-provider-plugin.ts"
import type { SessionPlugin } from "./session-plugin.ts"
import type { ToolPlugin } from "./tool-plugin.ts"

/** The four kinds. All are registered, exposed and shut down the same way. */
export type Plugin = ToolPlugin | GcPlugin | SessionPlugin | ModelProviderPlugin
