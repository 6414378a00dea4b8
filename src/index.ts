export { createClient, createRuntime, type Runtime, type RuntimeOptions } from "./app.ts"
export { type Clock, systemClock } from "./base/clock.ts"
export { type ErrorCode, isMeanwhileError, MeanwhileError } from "./base/error.ts"
export type { JsonObject, JsonValue } from "./base/json.ts"
export { type BackgroundPluginOptions, createBackgroundPlugin } from "./builtin/background/background-plugin.ts"
export { createClarificationPlugin } from "./builtin/clarification/clarification-plugin.ts"
export { createFileEditPlugin } from "./builtin/file_edit/file-edit-plugin.ts"
export { createHybridGc } from "./builtin/gc/hybrid-gc.ts"
export { createSummarizeGc } from "./builtin/gc/summarize-gc.ts"
export { createTruncateGc } from "./builtin/gc/truncate-gc.ts"
export { checkServers, type ServerCheck } from "./builtin/mcp/check-servers.ts"
export { type McpConfig, mcpConfigSchema } from "./builtin/mcp/mcp-config.ts"
export { readMcpConfig } from "./builtin/mcp/read-mcp-config.ts"
export { createMcpPlugin, type McpPlugin, type McpPluginOptions } from "./builtin/mcp/mcp-plugin.ts"
export type { ServerStatus } from "./builtin/mcp/server-link.ts"
export { toConnectedModel } from "./builtin/models/connected-model.ts"
export type { GivenModel } from "./builtin/models/given-model.ts"
export { createLanguageModelProvider } from "./builtin/models/language-model-provider.ts"
export { createModelProviders } from "./builtin/models/model-providers.ts"
export { createMultimodalPlugin } from "./builtin/multimodal/multimodal-plugin.ts"
export { createOfflineProvider, OFFLINE_MODEL } from "./builtin/offline/offline-provider.ts"
export {
  createPermissionPlugin,
  type PermissionParts,
  type PermissionPluginOptions,
  type SessionPermission,
} from "./builtin/permission/permission-plugin.ts"
export { type PermissionPolicy, permissionsConfigSchema } from "./builtin/permission/permission-policy.ts"
export { referencesConfigSchema } from "./builtin/references/reference.ts"
export { createReferencesPlugin } from "./builtin/references/references-plugin.ts"
export { createEngineSessionPlugin } from "./builtin/session/engine-session-plugin.ts"
export { createFileSessionPlugin } from "./builtin/session/file-session-plugin.ts"
export { createSlashCommandPlugin } from "./builtin/slash_command/slash-command-plugin.ts"
export { createSubagentPlugin } from "./builtin/subagent/subagent-plugin.ts"
export { createTodoPlugin } from "./builtin/todo/todo-plugin.ts"
export { createWebPlugin } from "./builtin/web/web-plugin.ts"
export { commandLikeness } from "./builtin/shell/command-likeness.ts"
export { commandParts } from "./builtin/shell/command-parts.ts"
export { createShellPlugin } from "./builtin/shell/shell-plugin.ts"
export { createPluginLoader } from "./config/plugin-loader.ts"
export { createEmbeddedEngine, type EmbeddedEngineOptions } from "./engine/embedded/engine.ts"
export { createPostgresEngine } from "./engine/postgres/engine.ts"
export type { PostgresEngineOptions } from "./engine/postgres/engine-options.ts"
export { backgroundCapable } from "./plugin/background-adapter.ts"
export {
  type BackgroundCapable,
  type BackgroundHandle,
  type BackgroundResult,
  isBackgroundCapable,
} from "./plugin/background-capable.ts"
export type { Log, StepContext, ToolContext } from "./plugin/context.ts"
export type { DocumentsPort } from "./plugin/documents-port.ts"
export type { BackgroundTaskResult, Trajectory } from "./plugin/background-result.ts"
export { definePlugin } from "./plugin/define-plugin.ts"
export type {
  AgentEvent,
  AgentEventBody,
  AgentListener,
  AgentStatus,
  OutputMode,
  OutputSource,
  TurnAccounting,
} from "./plugin/agent-event.ts"
export type { ContextUsage } from "./plugin/context-usage.ts"
export type { Contribution } from "./plugin/contribution.ts"
export type { DiscoveryEntry, LoadPlugin } from "./plugin/discovery.ts"
export type { Effect } from "./plugin/effect.ts"
export type { Collection, CollectionContext, CollectionDecision, GcConfig, GcPlugin } from "./plugin/gc-plugin.ts"
export {
  type ContentPart,
  callsOf,
  type FilePart,
  type FunctionCall,
  type Message,
  type Part,
  type Role,
  textOf,
  type ToolResult,
  userMessage,
} from "./plugin/message.ts"
export type {
  ConnectedModel,
  FinishReason,
  ModelDelta,
  ModelRequest,
  ModelTool,
  ProviderResponse,
} from "./plugin/model.ts"
export type { GroupFilter, GroupRequest, GroupService } from "./plugin/group-service.ts"
export type { ModelPort } from "./plugin/model-port.ts"
export type { ModelProviderPlugin } from "./plugin/model-provider-plugin.ts"
export type { OutputChunk, OutputRequest, PatternAnswer, PatternRequest } from "./plugin/output.ts"
export type { PersonAnswer, PersonChannel, PersonPort, Question } from "./plugin/person-port.ts"
export type { Plugin } from "./plugin/plugin.ts"
export type { PluginBase, PluginKind } from "./plugin/plugin-base.ts"
export type { HostedTool, PluginHost } from "./plugin/plugin-host.ts"
export type { ProcessExit, ProcessPort, ProcessRequest } from "./plugin/process.ts"
export type { EnrichedPrompt, EnrichmentContext, EnrichPrompt } from "./plugin/prompt-enrichment.ts"
export { createRegistry, type RegisterOptions, type Registry } from "./plugin/registry.ts"
export type { PluginEntry, RegistryChange } from "./plugin/registry-state.ts"
export type { ToolSchema } from "./plugin/registry-offers.ts"
export type { SessionPlugin } from "./plugin/session-plugin.ts"
export type { AgentBudget, AgentRequest, Handover } from "./plugin/agent-request.ts"
export type {
  ChildSendOptions,
  ChildSession,
  ChildTurn,
  SessionDirectory,
  SessionInfo,
  SessionsPort,
  SessionState,
} from "./plugin/sessions-port.ts"
export type {
  Answer,
  DurationEstimate,
  Execution,
  ListedTask,
  StopRequest,
  TaskService,
  TaskView,
  ToolCall,
} from "./plugin/task-service.ts"
export type { TokenUsage } from "./plugin/token-usage.ts"
export { type BackgroundPolicy, defineTool, type Tool } from "./plugin/tool.ts"
export { showModel } from "./plugin/tool-content.ts"
export type { CallDecision, PendingCall, ToolHooks } from "./plugin/tool-hooks.ts"
export type { ToolPlugin } from "./plugin/tool-plugin.ts"
export { failWith, handBack, type ToolReturn } from "./plugin/tool-return.ts"
export type { CommandContext, CommandOutput, UserCommand } from "./plugin/user-command.ts"
export type { WaitAnswer, WaitRequest } from "./plugin/wait-request.ts"
export type { Announcement, MissingAbility, WorkerPlace, WorkerView } from "./plugin/worker-view.ts"
export type { BackgroundConfig, BackgroundConfigInput } from "./runner/limits/background-config.ts"
export { type ConfigInput, defineConfig } from "./program/config-sections.ts"
export { allowAll, type Permission } from "./runner/admit/permission.ts"
export type { PermissionsInput } from "./permission.ts"
export type { PermissionDecision, PermissionRequest } from "./plugin/permission-request.ts"
export type { TaskCounts } from "./runner/service/count-tasks.ts"
export { createRunner, type Runner, type RunnerOptions } from "./runner/runner.ts"
export type { AgentConfig, AgentConfigInput } from "./session/conversation/agent-config.ts"
export type { ModelCatalogue, ModelFacts } from "./session/model/catalogue.ts"
export type { Client } from "./session/client.ts"
export { createTokenLedger, type LedgerEntry, type LedgerTotal, type TokenLedger } from "./session/ledger/ledger.ts"
export type { LedgerRecord, LedgerRow } from "./session/log/ledger-record.ts"
export { type LedgerQuery, readLedger } from "./session/log/read-ledger.ts"
export { enableReports } from "./session/report/enable-reports.ts"
export { type ReportsConfig, type ReportsConfigInput, reportsConfigSchema } from "./session/report/report-config.ts"
export type { ReportGenerator, ReportOptions, ReportRequest } from "./session/conversation/report-request.ts"
export type {
  CommandOptions,
  SendOptions,
  Session,
  SessionOptions,
  TurnResult,
} from "./session/conversation/session.ts"
export { toListener, type UiHooks } from "./session/ui-hooks.ts"
export type { ShutdownOptions } from "./runner/shutdown/drain.ts"
export type { Bus, Wake } from "./task/bus.ts"
export type { Dispatcher } from "./task/dispatcher.ts"
export type { Engine } from "./task/engine.ts"
export type { GroupArrival, GroupRecord, GroupState, MergeStrategy } from "./task/group.ts"
export type { TaskEvent, TaskEventBody, TaskFailure } from "./task/event.ts"
export type {
  ArtifactHash,
  GroupId,
  MessageId,
  SessionId,
  TaskId,
  WaitId,
  WorkerId,
  WorkspaceId,
} from "./task/id.ts"
export { isTerminal, LIFECYCLE, type RunStatus } from "./task/lifecycle.ts"
export type { Notice } from "./task/notice.ts"
export type { Operation } from "./task/operation.ts"
export type { OutputExtent, OutputPart, Outputs } from "./task/outputs.ts"
export type { ArtifactReference, Patch } from "./task/patch.ts"
export type { Progress, Usage } from "./task/progress.ts"
export type { Lifetime, NotifyMode, TaskKind, TaskLimits, TaskRecord, TaskSummary } from "./task/record.ts"
export { fromStatusName, STATUS_NAMES, toStatusName } from "./task/status-names.ts"
export type { OnCrash, Step } from "./task/step.ts"
export type { Requester, Stop, Stopper, Survivor, Survivors } from "./task/stop.ts"
export type { Page, PageRequest, StoreHealth, TaskFilter, TaskStore } from "./task/store.ts"
export type { WaitRecord } from "./task/wait.ts"
