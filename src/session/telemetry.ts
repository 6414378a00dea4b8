import {
  type Attributes,
  type Context,
  context,
  type Span,
  SpanStatusCode,
  trace,
  TraceFlags,
} from "@opentelemetry/api"
import { toErrorMessage } from "../base/error.ts"

const TRACER = "meanwhile"

/** A span of a turn, a model call or a tool call, and what is below it. */
export interface Trace {
  readonly traceId: string
  readonly context: Context
  /** Ends it; with an error it counts as failed. */
  end(attributes?: Attributes, error?: unknown): void
}

/** Begins a trace, or goes on with one that another process began. */
export function beginTrace(name: string, attributes: Attributes, known?: string): Trace {
  const parent = known ? withTraceId(context.active(), known) : context.active()
  return startSpan(name, attributes, parent, known)
}

export function beginSpan(parent: Trace, name: string, attributes: Attributes): Trace {
  return startSpan(name, attributes, parent.context, parent.traceId)
}

function startSpan(name: string, attributes: Attributes, parent: Context, known: string | undefined): Trace {
  const span = trace.getTracer(TRACER).startSpan(name, { attributes }, parent)
  const { traceId } = span.spanContext()
  return {
    traceId: isTraceId(traceId) ? traceId : (known ?? createTraceId()),
    context: trace.setSpan(parent, span),
    end: (more, error) => endSpan(span, more, error),
  }
}

function endSpan(span: Span, attributes: Attributes | undefined, error: unknown): void {
  if (attributes) span.setAttributes(attributes)
  if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: toErrorMessage(error) })
  span.end()
}

/** The span that began the trace is another process's: only its trace is known. */
function withTraceId(active: Context, traceId: string): Context {
  if (!isTraceId(traceId) || trace.getSpanContext(active)?.traceId === traceId) return active
  return trace.setSpanContext(active, {
    traceId,
    spanId: traceId.slice(0, 16),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  })
}

function isTraceId(id: string): boolean {
  return /^[0-9a-f]{32}$/.test(id) && !/^0+$/.test(id)
}

/** Without a tracer of the program's own, tasks of one turn are still told apart from others. */
export function createTraceId(): string {
  return crypto.randomUUID().replaceAll("-", "")
}
