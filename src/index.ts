export { createRuntime, type Runtime, type RuntimeOptions } from "./app.ts"
export { type Clock, systemClock } from "./base/clock.ts"
export { type ErrorCode, isMeanwhileError, MeanwhileError } from "./base/error.ts"
export type { JsonObject, JsonValue } from "./base/json.ts"
export { createShellPlugin } from "./builtin/shell/shell-plugin.ts"
export { createEmbeddedEngine, type EmbeddedEngineOptions } from "./engine/embedded/engine.ts"
export { backgroundCapable } from "./plugin/background-adapter.ts"
export { type BackgroundCapable, isBackgroundCapable } from "./plugin/background-capable.ts"
export type { Log, StepContext, ToolContext } from "./plugin/context.ts"
export { definePlugin } from "./plugin/define-plugin.ts"
export type { GcPlugin } from "./plugin/gc-plugin.ts"
export type { ModelProviderPlugin } from "./plugin/model-provider-plugin.ts"
export type { OutputChunk, OutputRequest, PatternAnswer, PatternRequest } from "./plugin/output.ts"
export type { Plugin } from "./plugin/plugin.ts"
export type { ProcessExit, ProcessPort, ProcessRequest } from "./plugin/process.ts"
export { createRegistry, type Registry } from "./plugin/registry.ts"
export type { SessionPlugin } from "./plugin/session-plugin.ts"
export type {
  Answer,
  DurationEstimate,
  Execution,
  StopRequest,
  TaskService,
  TaskView,
  ToolCall,
} from "./plugin/task-service.ts"
export { type BackgroundPolicy, defineTool, type Tool } from "./plugin/tool.ts"
export type { ToolPlugin } from "./plugin/tool-plugin.ts"
export { failWith, handBack, type ToolReturn } from "./plugin/tool-return.ts"
export type { BackgroundConfig, BackgroundConfigInput } from "./runner/config.ts"
export { allowAll, type Permission, type PermissionDecision, type PermissionRequest } from "./runner/call/permission.ts"
export { createRunner, type Runner, type RunnerOptions } from "./runner/runner.ts"
export type { ShutdownOptions } from "./runner/worker/shutdown.ts"
export type { Bus, Wake } from "./task/bus.ts"
export type { Dispatcher } from "./task/dispatcher.ts"
export type { Engine } from "./task/engine.ts"
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
export type { ArtifactReference, Patch } from "./task/patch.ts"
export type { Progress, Usage } from "./task/progress.ts"
export type { Lifetime, NotifyMode, TaskKind, TaskLimits, TaskRecord, TaskSummary } from "./task/record.ts"
export { fromStatusName, STATUS_NAMES, toStatusName } from "./task/status-names.ts"
export type { OnCrash, Step } from "./task/step.ts"
export type { Requester, Stop, Stopper, Survivor, Survivors } from "./task/stop.ts"
export type { Page, PageRequest, StoreHealth, TaskFilter, TaskStore } from "./task/store.ts"
export type { WaitRecord } from "./task/wait.ts"
