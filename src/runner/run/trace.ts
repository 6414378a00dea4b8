import type * as OpenTelemetryApi from "@opentelemetry/api"
import type { Context, Span, Tracer, TracerProvider } from "@opentelemetry/api"
import { isMeanwhileError } from "../../base/error.ts"
import type { Answer } from "../../plugin/task-service.ts"
import { kindOf, type Tool } from "../../plugin/tool.ts"
import type { SessionId, TaskId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"
import { isTurn } from "../tool/tool-source.ts"

const TRACER = "meanwhile"
/** The conventions' word for an error that has no code. */
const OTHER = "_OTHER"

type OpenTelemetry = typeof OpenTelemetryApi

/** Undefined where it is not installed: nobody traces then. The API itself keeps what a program registers in its own global. */
let openTelemetry: OpenTelemetry | undefined

/** Loads the API of a program that has it. Awaited before anything can be traced. */
export async function loadTracing(): Promise<void> {
  try {
    openTelemetry ??= await import("@opentelemetry/api")
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ERR_MODULE_NOT_FOUND")) throw error
  }
}

type AttributeValue = string | number | boolean | string[]
export type Attributes = Record<string, AttributeValue>

/** A span, and what is below it. */
export interface Trace {
  /** Null when nobody traces and no trace was named. */
  readonly traceId: string | null
  /** Work begun in the callback is below the span. */
  within<Result>(work: () => Result): Result
  /** Begins a span below this one. */
  begin(start: SpanStart): Trace
  /**
   * Ends the span; later calls do nothing. With an error type the span counts as failed. The message of an error stays
   * out of the trace: it may quote content.
   */
  end(attributes?: Attributes, errorType?: string): void
}

export interface SpanStart {
  readonly name: string
  readonly attributes: Attributes
  /** True for a request to another machine. */
  readonly isRequest?: true
}

/** Begins a span in the named trace, below the active span if that is part of it. Without a name: below the active span. */
export function beginTrace(start: SpanStart, traceId?: string | null): Trace {
  const traced = findTracer()
  if (!traced) return toUntraced(traceId ?? null)
  const { api } = traced
  return startSpan(traced, start, traceId ? toParent(api, traceId) : api.context.active(), traceId ?? null)
}

/** The trace of the active span; null when there is none. */
export function activeTraceId(): string | null {
  if (!openTelemetry) return null
  const { trace, context } = openTelemetry
  return trace.getSpanContext(context.active())?.traceId ?? null
}

/** Work begun in the callback belongs to no span that is active now. */
export function outsideOfTraces<Result>(work: () => Result): Result {
  return openTelemetry ? openTelemetry.context.with(openTelemetry.ROOT_CONTEXT, work) : work()
}

/** The name of an error in metrics: a code, never a message. */
export function toErrorType(error: unknown): string {
  if (typeof error === "string") return /^[\w.-]{1,64}$/.test(error) ? error : OTHER
  return isMeanwhileError(error) ? error.code : OTHER
}

interface Traced {
  readonly api: OpenTelemetry
  readonly tracer: Tracer
}

/** Undefined without an SDK: the API's own stand-ins would cost a call in the foreground a tenth of its time. */
function findTracer(): Traced | undefined {
  const api = openTelemetry
  if (!api) return undefined
  const provider: TracerProvider & Partial<Delegating> = api.trace.getTracerProvider()
  const tracer = provider.getDelegateTracer ? provider.getDelegateTracer(TRACER) : provider.getTracer(TRACER)
  return tracer && { api, tracer }
}

/** The API's own provider, a proxy for the one that the program registers. */
interface Delegating {
  getDelegateTracer(name: string): Tracer | undefined
}

function toUntraced(traceId: string | null): Trace {
  return { traceId, within: (work) => work(), begin: (start) => beginTrace(start, traceId), end() {} }
}

function startSpan(traced: Traced, start: SpanStart, parent: Context, known: string | null): Trace {
  const { api, tracer } = traced
  const { name, attributes, isRequest = false } = start
  const kind = isRequest ? api.SpanKind.CLIENT : api.SpanKind.INTERNAL
  const span = tracer.startSpan(name, { attributes, kind }, parent)
  const { traceId } = span.spanContext()
  const context = api.trace.setSpan(parent, span)
  const shown = api.isValidTraceId(traceId) ? traceId : known
  let isEnded = false
  return {
    traceId: shown,
    within: (work) => api.context.with(context, work),
    begin: (below) => startSpan(traced, below, context, shown),
    end(more, errorType) {
      if (isEnded) return
      isEnded = true
      endSpan(api, span, more, errorType)
    },
  }
}

function endSpan(
  { SpanStatusCode }: OpenTelemetry,
  span: Span,
  attributes: Attributes | undefined,
  errorType: string | undefined,
): void {
  if (attributes) span.setAttributes(attributes)
  if (errorType !== undefined) {
    span.setAttribute("error.type", errorType)
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

/** If another process began the trace, its spans are not known: a parent with an id made from the trace id stands in. */
function toParent(
  { trace, context, isValidTraceId, ROOT_CONTEXT, TraceFlags }: OpenTelemetry,
  traceId: string,
): Context {
  const active = context.active()
  if (trace.getSpanContext(active)?.traceId === traceId) return active
  if (!isValidTraceId(traceId)) return ROOT_CONTEXT
  return trace.setSpanContext(active, {
    traceId,
    spanId: traceId.slice(0, 16),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  })
}

/** One execution as a trace shows it. */
export interface RunSpan {
  readonly traceId: string | null
  /** Work begun in the callback is below the span. */
  within<Result>(work: () => Result): Result
  /** Takes the answer or the record that the run ended with; null when this process does not report the end. */
  end(ended: Answer | TaskRecord | null): void
}

interface TracedRun {
  readonly taskId: TaskId
  readonly run: number
  readonly origin: { readonly session: SessionId | null; readonly traceId: string | null }
  readonly call: { readonly plugin: string; readonly tool: Tool }
  readonly standing: { readonly in: string }
}

/**
 * Begins the span of a run: below the active span if the call was made in it, otherwise in the trace that the record
 * names. Null when nobody traces, and for a turn: the span of a turn is its agent's.
 */
export function beginRunSpan({ taskId, run, origin, call, standing }: TracedRun): RunSpan | null {
  if (isTurn(call) || !findTracer()) return null
  const { session, traceId } = origin
  const { plugin, tool } = call
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
    within: (work) => span.within(work),
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
