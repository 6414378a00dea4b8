export { createClient, createRuntime, defineConfig } from "./library.ts"
export type { Runtime, RuntimeOptions } from "./runtime.ts"
export { type ErrorCode, isMeanwhileError, MeanwhileError } from "./base/error.ts"
export type { JsonObject, JsonValue } from "./base/json.ts"
export type { GivenModel } from "./builtin/models/given-model.ts"
export type { DeskOptions } from "./desk/desk-options.ts"
export type { Desk } from "./desk/desk.ts"
export type { InboxItem } from "./desk/inbox.ts"
export type { TaskBranch } from "./desk/task-tree.ts"
export type { PermissionsInput, SessionOptions } from "./runtime.ts"
export type { AgentEvent, AgentListener, TurnAccounting } from "./plugin/agent-event.ts"
export type { BackgroundTaskResult, Trajectory } from "./plugin/background-result.ts"
export type { ContextUsage } from "./plugin/context-usage.ts"
export type { Log, StepContext, ToolContext } from "./plugin/context.ts"
export { definePlugin } from "./plugin/define-plugin.ts"
export type { Effect } from "./plugin/effect.ts"
export type { GroupFilter, GroupRequest, GroupService } from "./plugin/group-service.ts"
export { type FilePart, type FunctionCall, type Message, type Part, textOf, type ToolResult } from "./plugin/message.ts"
export type { ProviderOptions, ToolChoice } from "./plugin/model.ts"
export type { OutputChunk, OutputRequest, PatternAnswer, PatternRequest } from "./plugin/output.ts"
export type { OutputSchema } from "./plugin/output-schema.ts"
export type { PermissionDecision, PermissionRequest } from "./plugin/permission-request.ts"
export type { PersonAnswer, PersonChannel, Question } from "./plugin/person-port.ts"
export type { Plugin } from "./plugin/plugin.ts"
export type { ForkOptions, ListedSession, SessionChanges, SessionQuery } from "./plugin/sessions-port.ts"
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
export type { TaskFilter } from "./plugin/task-filter.ts"
export type { TokenUsage } from "./plugin/token-usage.ts"
export { showModel } from "./plugin/tool.ts"
export type { ToolPlugin } from "./plugin/tool-plugin.ts"
export { failWith, handBack, type ToolReturn } from "./plugin/tool.ts"
export { type BackgroundPolicy, defineTool, type Tool } from "./plugin/tool.ts"
export type { CommandContext, CommandOutput, UserCommand } from "./plugin/user-command.ts"
export type { WaitAnswer, WaitRequest } from "./plugin/wait-request.ts"
export type { WorkerView } from "./plugin/worker-view.ts"
export type { ConfigInput } from "./config-sections.ts"
export type { Permission } from "./runner/admit/permission.ts"
export type { BackgroundConfigInput } from "./runner/limits/background-config.ts"
export type { TaskCounts } from "./runner/service/task-service.ts"
export type { KeepingOptions, ShutdownOptions } from "./runner/shutdown/shutdown.ts"
export type { WorkLeft } from "./runner/shutdown/work-left.ts"
export type { RunnerService } from "./runner/runner.ts"
export type { Client } from "./session/client.ts"
export type { AgentConfigInput } from "./session/conversation/agent-config.ts"
export type { ReportGenerator, ReportOptions, ReportRequest } from "./session/conversation/report-request.ts"
export type {
  CommandOptions,
  RetryOptions,
  SendOptions,
  Session,
  Turn,
  TurnResult,
  TypedSendOptions,
  TypedTurnResult,
} from "./session/conversation/session.ts"
export type { ModelSettings } from "./session/conversation/model-settings.ts"
export { createTokenLedger, type LedgerEntry, type LedgerTotal, type TokenLedger } from "./session/ledger/ledger.ts"
export type { LedgerQuery } from "./session/log/ledger-record.ts"
export type { ModelCatalogue, ModelFacts } from "./session/model/catalogue.ts"
export type { ReportsConfigInput } from "./session/conversation/report-config.ts"
export { toListener, type UiHooks } from "./session/ui-hooks.ts"
export type { TaskEvent, TaskEventBody, TaskFailure } from "./task/event.ts"
export type { GroupRecord } from "./task/group.ts"
export type { GroupId, MessageId, SessionId, TaskId, WaitId, WorkspaceId } from "./task/id.ts"
export { isTerminal, type RunStatus } from "./task/lifecycle.ts"
export type { Patch } from "./task/patch.ts"
export type { Progress, Usage } from "./task/progress.ts"
export type { Lifetime, NotifyMode, TaskKind, TaskRecord, TaskSummary } from "./task/record.ts"
export type { SessionMetadata } from "./task/session.ts"
export type { OnCrash } from "./task/step.ts"
export type { Survivors } from "./task/stop.ts"
export type { Page, PageRequest } from "./task/store.ts"
export { type SessionBusy, toSessionBusy } from "./task/session-busy.ts"
