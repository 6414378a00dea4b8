import {
  type Attributes,
  type Context,
  context,
  isValidTraceId,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
  type TracerProvider,
} from "@opentelemetry/api"
import { isMeanwhileError } from "../../base/error.ts"
import type { Answer } from "../../plugin/task-service.ts"
import { kindOf, type Tool } from "../../plugin/tool.ts"
import type { SessionId, TaskId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"
import { isTurn } from "../tool/tool-source.ts"

const TRACER = "meanwhile"
/** The conventions' word for an error that has no code. */
const OTHER = "_OTHER"

/** A span, and the context for spans below it. */
export interface Trace {
  /** Null when nobody traces and no trace was named. */
  readonly traceId: string | null
  readonly context: Context
  /**
   * Ends the span; later calls do nothing. With an error type the span counts as failed. The message of an error stays
   * out of the trace: it may quote content.
   */
  end(attributes?: Attributes, errorType?: string): void
}

interface SpanStart {
  readonly name: string
  readonly attributes: Attributes
  readonly kind?: SpanKind
}

/** Begins a span in the named trace, below the active span if that is part of it. Without a name: below the active span. */
export function beginTrace(start: SpanStart, traceId?: string | null): Trace {
  const tracer = findTracer()
  if (!tracer) return toUntraced(context.active(), traceId ?? null)
  return startSpan(tracer, start, traceId ? toParent(traceId) : context.active(), traceId ?? null)
}

export function beginSpan(parent: Trace, start: SpanStart): Trace {
  const tracer = findTracer()
  return tracer ? startSpan(tracer, start, parent.context, parent.traceId) : toUntraced(parent.context, parent.traceId)
}

/** The trace of the active span; null when there is none. */
export function activeTraceId(): string | null {
  return trace.getSpanContext(context.active())?.traceId ?? null
}

/** The name of an error in metrics: a code, never a message. */
export function toErrorType(error: unknown): string {
  if (typeof error === "string") return /^[\w.-]{1,64}$/.test(error) ? error : OTHER
  return isMeanwhileError(error) ? error.code : OTHER
}

/** Undefined without an SDK: the API's own stand-ins would cost a call in the foreground a tenth of its time. */
function findTracer(): Tracer | undefined {
  const provider: TracerProvider & Partial<Delegating> = trace.getTracerProvider()
  return provider.getDelegateTracer ? provider.getDelegateTracer(TRACER) : provider.getTracer(TRACER)
}

/** The API's own provider, a proxy for the one that the program registers. */
interface Delegating {
  getDelegateTracer(name: string): Tracer | undefined
}

function toUntraced(parent: Context, traceId: string | null): Trace {
  return { traceId, context: parent, end() {} }
}

function startSpan(
  tracer: Tracer,
  { name, attributes, kind = SpanKind.INTERNAL }: SpanStart,
  parent: Context,
  known: string | null,
): Trace {
  const span = tracer.startSpan(name, { attributes, kind }, parent)
  const { traceId } = span.spanContext()
  let isEnded = false
  return {
    traceId: isValidTraceId(traceId) ? traceId : known,
    context: trace.setSpan(parent, span),
    end(more, errorType) {
      if (isEnded) return
      isEnded = true
      endSpan(span, more, errorType)
    },
  }
}

function endSpan(span: Span, attributes: Attributes | undefined, errorType: string | undefined): void {
  if (attributes) span.setAttributes(attributes)
  if (errorType !== undefined) {
    span.setAttribute("error.type", errorType)
    span.setStatus({ code: SpanStatusCode.ERROR })
  }
  span.end()
}

/** If another process began the trace, its spans are not known: a parent with an id made from the trace id stands in. */
function toParent(traceId: string): Context {
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
