import { toErrorMessage } from "../../base/error.ts"
import { toHarmless } from "../../base/harmless.ts"
import type { ExecuteOptions } from "../../plugin/task-service.ts"
import type { HasLog } from "../run/scope.ts"

/** The options of a call whose listeners can do it no harm: an error of theirs is logged. */
export function toHarmlessOptions({ log }: HasLog, options: ExecuteOptions): ExecuteOptions {
  const { onOutput, onProgress, onStarted } = options
  const warn = (error: unknown): void => log.warn("a listener of a call failed", { error: toErrorMessage(error) })
  return {
    ...options,
    ...(onOutput && { onOutput: toHarmless(onOutput, warn) }),
    ...(onProgress && { onProgress: toHarmless(onProgress, warn) }),
    ...(onStarted && { onStarted: toHarmless(onStarted, warn) }),
  }
}
