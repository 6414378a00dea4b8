import { context } from "@opentelemetry/api"
import type { Answer } from "../../plugin/task-service.ts"
import { kindOf, type Tool } from "../../plugin/tool.ts"
import type { SessionId, TaskId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"
import { beginTrace, isTraced, toErrorType } from "./trace.ts"
import { isTurn } from "../tool/runtime-tools.ts"

/** One execution as a trace shows it. */
export interface RunSpan {
  readonly traceId: string | null
  /** Work begun in the callback is below the span. */
  within<Result>(work: () => Result): Result
  /** With the answer or the record it ended with; null when its end is not this process's to tell. */
  end(ended: Answer | TaskRecord | null): void
}

export interface TracedRun {
  readonly taskId: TaskId
  readonly run: number
  readonly session: SessionId | null
  readonly plugin: string
  readonly tool: Tool
  readonly traceId: string | null
  readonly standing: { readonly in: string }
}

/**
 * Below the span that made the call, when the call was made here a moment ago; otherwise in the trace that its record
 * names. Null when nobody traces, and for a turn: the span of a turn is its agent's.
 */
export function beginRunSpan({ taskId, run, session, plugin, tool, traceId, standing }: TracedRun): RunSpan | null {
  if (isTurn({ plugin, tool }) || !isTraced()) return null
  const isForeground = standing.in === "foreground"
  const attributes = {
    "meanwhile.task.id": taskId,
    "meanwhile.task.run": run,
    "meanwhile.task.kind": kindOf(tool),
    "meanwhile.plugin.name": plugin,
    "gen_ai.tool.name": tool.name,
    ...(session && { "gen_ai.conversation.id": session }),
  }
  const span = beginTrace({ name: `run_task ${tool.name}`, attributes }, traceId)
  return {
    traceId: span.traceId,
    within: (work) => context.with(span.context, work),
    end(ended) {
      const isTask = ended !== null && "status" in ended
      const status = ended === null ? "lost" : isTask ? ended.status : ended.outcome
      span.end(
        { "meanwhile.task.status": status, "meanwhile.task.promoted": isForeground && isTask },
        toFailure(ended, status),
      )
    },
  }
}

/** A run that somebody stopped, or that goes on elsewhere, has not failed. */
function toFailure(ended: Answer | TaskRecord | null, status: string): string | undefined {
  if (status === "timed_out") return status
  return ended !== null && "failure" in ended ? toErrorType(ended.failure.code) : undefined
}
