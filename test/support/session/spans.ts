import { AsyncLocalStorage } from "node:async_hooks"
import { type Context, context, type ContextManager, ROOT_CONTEXT, trace } from "@opentelemetry/api"
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base"
import { onTestFinished } from "vitest"

export interface RecordedSpans {
  /** In the order in which they ended. */
  all(): readonly ReadableSpan[]
  find(name: string): ReadableSpan
  /** Names, each indented below its parent, in alphabetical order. */
  tree(): readonly string[]
}

/** Records the spans of this test like a program that has registered an SDK. */
export function recordSpans({ hasContext }: { readonly hasContext: boolean }): RecordedSpans {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  trace.setGlobalTracerProvider(provider)
  if (hasContext) context.setGlobalContextManager(createContextManager())
  onTestFinished(async () => {
    trace.disable()
    context.disable()
    await provider.shutdown()
  })
  const all = (): readonly ReadableSpan[] => exporter.getFinishedSpans()
  return {
    all,
    find(name) {
      const found = all().find((span) => span.name === name)
      if (!found)
        throw new Error(
          `There is no span ${name}; there are ${all()
            .map((span) => span.name)
            .join(", ")}.`,
        )
      return found
    },
    tree() {
      const spans = all().toSorted((a, b) => a.name.localeCompare(b.name))
      const ids = new Set(spans.map((span) => span.spanContext().spanId))
      const below = (parent: string | undefined, depth: number): readonly string[] =>
        spans
          .filter(({ parentSpanContext: above }) =>
            parent === undefined ? !above || !ids.has(above.spanId) : above?.spanId === parent,
          )
          .flatMap((span) => [`${"  ".repeat(depth)}${span.name}`, ...below(span.spanContext().spanId, depth + 1)])
      return below(undefined, 0)
    },
  }
}

function createContextManager(): ContextManager {
  const storage = new AsyncLocalStorage<Context>()
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, self, ...parameters) => storage.run(active, () => work.call(self as never, ...parameters)),
    bind: (_active, target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  return manager
}
