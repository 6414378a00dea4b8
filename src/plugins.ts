export { type BackgroundPluginOptions, createBackgroundPlugin } from "./builtin/background/background-plugin.ts"
export { createClarificationPlugin } from "./builtin/clarification/clarification-plugin.ts"
export { createFileEditPlugin } from "./builtin/file_edit/file-edit-plugin.ts"
export { createHybridGc, createSummarizeGc, createTruncateGc } from "./builtin/gc/gc-plugin.ts"
export { checkServers, type ServerCheck } from "./builtin/mcp/check-servers.ts"
export { type McpConfig, mcpConfigSchema } from "./builtin/mcp/mcp-config.ts"
export { createMcpPlugin, type McpPlugin, type McpPluginOptions } from "./builtin/mcp/mcp-plugin.ts"
export { readMcpConfig } from "./builtin/mcp/read-mcp-config.ts"
export type { ServerStatus } from "./builtin/mcp/server-link.ts"
export { toConnectedModel } from "./builtin/models/connected-model.ts"
export { createLanguageModelProvider } from "./builtin/models/language-model-provider.ts"
export { createModelProviders } from "./builtin/models/model-providers.ts"
export { createMultimodalPlugin } from "./builtin/multimodal/multimodal-plugin.ts"
export { createOfflineProvider } from "./builtin/offline/offline-provider.ts"
export { createReferencesPlugin } from "./builtin/references/references-plugin.ts"
export { createEngineSessionPlugin } from "./builtin/session/engine-session-plugin.ts"
export { createFileSessionPlugin } from "./builtin/session/file-session-plugin.ts"
export { createShellPlugin, type ShellPluginOptions } from "./builtin/shell/shell-plugin.ts"
export { createSlashCommandPlugin } from "./builtin/slash_command/slash-command-plugin.ts"
export { createSubagentPlugin } from "./builtin/subagent/subagent-plugin.ts"
export { createTodoPlugin } from "./builtin/todo/todo-plugin.ts"
export { createWebPlugin } from "./builtin/web/web-plugin.ts"
export { createPluginLoader } from "./config/plugin-loader.ts"
export type { AgentBudget, AgentRequest, Handover } from "./plugin/agent-request.ts"
export { backgroundCapable } from "./plugin/background-adapter.ts"
export {
  type BackgroundCapable,
  type BackgroundHandle,
  type BackgroundResult,
  isBackgroundCapable,
} from "./plugin/background-capable.ts"
export type { Contribution } from "./plugin/contribution.ts"
export type { DiscoveryEntry, LoadPlugin } from "./plugin/discovery.ts"
export type { DocumentsPort } from "./plugin/documents-port.ts"
export type { Collection, CollectionContext, CollectionDecision, GcConfig, GcPlugin } from "./plugin/gc-plugin.ts"
export type { ModelPort } from "./plugin/model-port.ts"
export type { ModelProviderPlugin } from "./plugin/model-provider-plugin.ts"
export type {
  ConnectedModel,
  FinishReason,
  ModelDelta,
  ModelOutput,
  ModelRequest,
  ModelTool,
  ProviderResponse,
} from "./plugin/model.ts"
export type { PersonPort } from "./plugin/person-port.ts"
export type { PluginBase, PluginKind } from "./plugin/plugin-base.ts"
export type { HostedTool, PluginHost } from "./plugin/plugin-host.ts"
export type { ProcessExit, ProcessPort, ProcessRequest } from "./plugin/process.ts"
export type { EnrichedPrompt, EnrichmentContext, EnrichPrompt } from "./plugin/prompt-enrichment.ts"
export type { ToolSchema } from "./plugin/registry-state.ts"
export type { PluginEntry, RegistryChange } from "./plugin/registry-state.ts"
export type { RegisterOptions, Registry } from "./plugin/registry.ts"
export type { SessionPlugin } from "./plugin/session-plugin.ts"
export type {
  ChildSendOptions,
  ChildSession,
  ChildTurn,
  SessionDirectory,
  SessionInfo,
  SessionsPort,
  SessionState,
} from "./plugin/sessions-port.ts"
export type { CallDecision, PendingCall, ToolHooks } from "./plugin/tool-hooks.ts"
