import type { JsonObject, JsonValue } from "../base/json.ts"
import type { RunStatus } from "../task/lifecycle.ts"
import type { STATUS_NAMES } from "../task/status-names.ts"

/** pending, running, completed, failed, cancelled or timeout. */
export type BackgroundStatus = (typeof STATUS_NAMES)[RunStatus]["jaato"]

/** The handle a caller keeps of a task it started. */
export interface BackgroundHandle {
  readonly taskId: string
  readonly pluginName: string
  readonly toolName: string
  readonly createdAt: number
  /** Null: not known. */
  readonly estimatedDurationSeconds: number | null
  readonly metadata: JsonObject
}

export interface BackgroundResult {
  readonly taskId: string
  readonly status: BackgroundStatus
  /** The tool's return value; null until the task has completed. */
  readonly result: JsonValue
  /** Why the task did not complete; null while it runs and if it completed. */
  readonly error: string | null
  readonly startedAt: number | null
  readonly completedAt: number | null
  readonly durationSeconds: number | null
}

/** Work that already runs: a promise, or a process of this machine. */
export type RunningWork = Promise<unknown> | { readonly pid: number }

/**
 * The full contract of a plugin that runs its tools in the background itself, for example on a server with tasks of its
 * own. Other plugins get it from `backgroundCapable`. Every method that takes a task id refuses the id of another
 * plugin's task as `not_found`.
 */
export interface BackgroundCapable {
  supportsBackground(toolName: string): Promise<boolean>
  /** Seconds after which a call leaves the foreground; null: never by itself. With `input`, the figure of that call. */
  autoBackgroundThreshold(toolName: string, input?: unknown): Promise<number | null>
  /** Seconds; null if not known. */
  estimateDuration(toolName: string, input: unknown): Promise<number | null>
  /**
   * Returns once the task exists, not when it ends. Refused as `not_background_capable` for a tool that cannot. The
   * same `callKey` is the same call, made again after a crash: a plugin that recognises the key returns the existing
   * task.
   */
  startBackground(
    toolName: string,
    input: unknown,
    timeoutSeconds?: number,
    callKey?: string,
  ): Promise<BackgroundHandle>
  /** Asked after a cancel that was not done: a task that has ended by itself does not run any more. */
  getStatus(taskId: string): Promise<BackgroundStatus>
  /** With `wait` it resolves once the task has ended. A result that was returned counts as used. */
  getResult(taskId: string, wait?: boolean): Promise<BackgroundResult>
  /** True if nothing of the task runs any more, also if it had ended before; false if it could not be stopped. */
  cancel(taskId: string): Promise<boolean>
  /**
   * Pending and running tasks. A handle that has the `callKey` of its start in its metadata is found again after a crash in
   * the middle of that start.
   */
  listTasks(): Promise<readonly BackgroundHandle[]>
  /**
   * Removes tasks whose result was used at least this long ago (default 3600 s); returns how many. Called now and then, with
   * the retention time of the runtime.
   */
  cleanupCompleted(maxAgeSeconds?: number): Promise<number>
  /** Takes work that already runs as a task of the plugin: what is adopted under one of its tools. */
  registerRunningTask(work: RunningWork, toolName: string, input: unknown): Promise<BackgroundHandle>
}

/**
 * Marks a plugin whose contract comes from `backgroundCapable`: its tasks are tasks of this runtime. A global symbol,
 * because two copies of this package may meet.
 */
export const RUNS_HERE: unique symbol = Symbol.for("meanwhile.runs-here")

/**
 * True for a plugin with tasks of its own: each of its calls needs a task of this runtime that follows the plugin's
 * task.
 */
export function runsElsewhere<Plugin extends object>(plugin: Plugin): plugin is Plugin & BackgroundCapable {
  return isBackgroundCapable(plugin) && !(RUNS_HERE in plugin)
}

const METHODS = [
  "supportsBackground",
  "autoBackgroundThreshold",
  "estimateDuration",
  "startBackground",
  "getStatus",
  "getResult",
  "cancel",
  "listTasks",
  "cleanupCompleted",
  "registerRunningTask",
] as const satisfies readonly (keyof BackgroundCapable)[]

/** Decides by structure: a value with all ten methods is capable, wherever it comes from. */
export function isBackgroundCapable(value: unknown): value is BackgroundCapable {
  if (typeof value !== "object" || value === null) return false
  return METHODS.every((name) => typeof Reflect.get(value, name) === "function")
}
