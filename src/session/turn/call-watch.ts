import type { CancelTimer } from "../../base/clock.ts"
import type { ExecuteOptions } from "../../plugin/task-service.ts"
import type { TaskId } from "../../task/id.ts"
import type { Progress } from "../../task/progress.ts"
import type { CallPlace } from "./call-place.ts"
import type { TurnScope } from "./turn-scope.ts"

const PROGRESS_EVERY_MS = 100

/** The events of one call between its start and its end. */
export interface CallWatch {
  readonly options: ExecuteOptions
  /** Tasks that it has started so far. */
  readonly started: readonly TaskId[]
  /** Since it began, or since it was allowed. */
  ranMs(): number
  /** True once the call was admitted. */
  hasBegun(): boolean
  close(): void
}

export function watchCall({ agents: { clock }, conversation }: TurnScope, place: CallPlace): CallWatch {
  const { emitter } = conversation
  const { id: callId, tool } = place.call
  let beganMs = clock.monotonic()
  const started: TaskId[] = []
  let isAsked = false
  let isAdmitted = false
  let newest: Progress | null = null
  let cancelTelling: CancelTimer | null = null

  function tellProgress(): void {
    cancelTelling = null
    if (newest) emitter.emit({ type: "tool_call.progressed", callId, tool, progress: newest })
  }

  const timing: ExecuteOptions = {
    onStarted: (task) => void started.push(task),
    onAsked() {
      isAsked = true
      emitter.emit({ type: "tool_call.asked", callId, tool })
      return place.noteAsked()
    },
    onDecided: ({ isAllowed }) => place.noteDecided(isAllowed),
    onAdmitted() {
      isAdmitted = true
      if (!isAsked) return
      beganMs = clock.monotonic()
      emitter.emit({ type: "tool_call.allowed", callId, tool })
    },
  }
  const printing: ExecuteOptions = {
    onOutput: (text) => emitter.emit({ type: "agent.output", source: "tool", text, mode: "append", callId }),
  }
  const progressing: ExecuteOptions = {
    onProgress(progress) {
      newest = progress
      cancelTelling ??= clock.schedule(PROGRESS_EVERY_MS, tellProgress, { isBackground: true })
    },
  }
  return {
    options: {
      ...timing,
      ...(emitter.hears("agent.output") && printing),
      ...(emitter.hears("tool_call.progressed") && progressing),
    },
    started,
    hasBegun: () => isAdmitted,
    ranMs: () => clock.monotonic() - beganMs,
    close: () => cancelTelling?.(),
  }
}
