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
  /** Null: nobody knows. */
  readonly estimatedDurationSeconds: number | null
  readonly metadata: JsonObject
}

export interface BackgroundResult {
  readonly taskId: string
  readonly status: BackgroundStatus
  /** The tool's return value; null until the task has completed. */
  readonly result: JsonValue
  /** Why it did not complete; null while it runs and when it did. */
  readonly error: string | null
  readonly startedAt: number | null
  readonly completedAt: number | null
  readonly durationSeconds: number | null
}

/** Work that already runs: a promise, or a process of this machine. */
export type RunningWork = Promise<unknown> | { readonly pid: number }

/**
 * The full contract of a plugin that runs its tools in the background itself, for example on a server with tasks of its
 * own. Other plugins get it from `backgroundCapable`. Every method that takes a task id refuses one that is not this
 * plugin's as `not_found`.
 */
export interface BackgroundCapable {
  supportsBackground(toolName: string): Promise<boolean>
  /** Seconds after which a call leaves the foreground; null: never by itself. With `input` it is that call's figure. */
  autoBackgroundThreshold(toolName: string, input?: unknown): Promise<number | null>
  /** Seconds, or null when nobody knows. */
  estimateDuration(toolName: string, input: unknown): Promise<number | null>
  /**
   * Returns once the task exists, not when it ends. Refused as `not_background_capable` for a tool that cannot. The
   * same
   * `callKey` is the same call, made again after a crash: a plugin that recognises the key returns the existing task.
   */
  startBackground(
    toolName: string,
    input: unknown,
    timeoutSeconds?: number,
    callKey?: string,
  ): Promise<BackgroundHandle>
  getStatus(taskId: string): Promise<BackgroundStatus>
  /** With `wait` it answers when the task has ended. A result that was handed out counts as used. */
  getResult(taskId: string, wait?: boolean): Promise<BackgroundResult>
  /** True when nothing of it runs any more, also if it had ended before; false when it could not be stopped. */
  cancel(taskId: string): Promise<boolean>
  /** Pending and running ones. */
  listTasks(): Promise<readonly BackgroundHandle[]>
  /** Removes tasks whose result was used at least so long ago (default 3600 s); returns how many. */
  cleanupCompleted(maxAgeSeconds?: number): Promise<number>
  registerRunningTask(work: RunningWork, toolName: string, input: unknown): Promise<BackgroundHandle>
}

/**
 * Marks plugins whose contract comes from `backgroundCapable`: their tasks are ours. A global symbol, because two
 * copies of this package may meet.
 */
export const RUNS_HERE: unique symbol = Symbol.for("meanwhile.runs-here")

/** True for a plugin whose calls must be carried by tasks of ours. */
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

/** By structure: whatever has all ten methods is capable, wherever it comes from. */
export function isBackgroundCapable(value: unknown): value is BackgroundCapable {
  if (typeof value !== "object" || value === null) return false
  return METHODS.every((name) => typeof Reflect.get(value, name) === "function")
}
