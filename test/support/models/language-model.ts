import type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4StreamPart } from "@ai-sdk/provider"

export const FINISH: LanguageModelV4StreamPart = {
  type: "finish",
  usage: {
    inputTokens: { total: 8, noCache: 3, cacheRead: 4, cacheWrite: 1 },
    outputTokens: { total: 7, text: 2, reasoning: 5 },
  },
  finishReason: { unified: "stop", raw: "stop" },
}

/** A model object of the AI SDK that gives these parts, and keeps what it was called with. */
export function createLanguageModel(parts: readonly LanguageModelV4StreamPart[], more: Partial<LanguageModelV4> = {}) {
  const calls: LanguageModelV4CallOptions[] = []
  const model: LanguageModelV4 = {
    specificationVersion: "v4",
    provider: "own.chat",
    modelId: "m",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("never called")),
    doStream: async (options) => {
      calls.push(options)
      return { stream: ReadableStream.from(parts) }
    },
    ...more,
  }
  return { model, calls }
}

export function toTextParts(text: string): readonly LanguageModelV4StreamPart[] {
  return [
    { type: "text-start", id: "1" },
    { type: "text-delta", id: "1", delta: text },
    { type: "text-end", id: "1" },
    FINISH,
  ]
}
