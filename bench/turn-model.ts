import type {
  LanguageModelV4,
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Prompt,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
} from "@ai-sdk/provider"

export const LOOKUP_TOOL = "look_up_weather"
export const QUESTION = "What is the weather like in Hamburg today?"
export const ANSWER = "It is 18 degrees in Hamburg, with light rain."

/** What the tool of both sides does. */
export async function lookUpWeather({ city }: { readonly city: string }) {
  return { city, degrees: 18, sky: "light rain" }
}

const INPUT = '{"city":"Hamburg"}'
const USAGE: LanguageModelV4Usage = {
  inputTokens: { total: 100, noCache: 100, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 10, text: 10, reasoning: 0 },
}
const CALLS: LanguageModelV4FinishReason = { unified: "tool-calls", raw: "tool_use" }
const STOP: LanguageModelV4FinishReason = { unified: "stop", raw: "end_turn" }

/**
 * The script both sides play: a question is answered by one tool call, its result by a sentence. Streamed as providers
 * do: the arguments in one piece, the sentence word by word.
 */
export function createTurnModel(): LanguageModelV4 {
  let calls = 0
  return {
    specificationVersion: "v4",
    provider: "bench",
    modelId: "script",
    supportedUrls: {},
    async doGenerate({ prompt }) {
      const isResult = endsWithResult(prompt)
      const content: LanguageModelV4Content[] = isResult
        ? [{ type: "text", text: ANSWER }]
        : [{ type: "tool-call", toolCallId: `call_${++calls}`, toolName: LOOKUP_TOOL, input: INPUT }]
      return { content, finishReason: isResult ? STOP : CALLS, usage: USAGE, warnings: [] }
    },
    async doStream({ prompt }) {
      const parts = endsWithResult(prompt) ? TEXT_PARTS : toCallParts(`call_${++calls}`)
      return {
        stream: new ReadableStream({
          start(controller) {
            for (const part of parts) controller.enqueue(part)
            controller.close()
          },
        }),
      }
    },
  }
}

function endsWithResult(prompt: LanguageModelV4Prompt): boolean {
  return prompt.at(-1)?.role === "tool"
}

const TEXT_PARTS: readonly LanguageModelV4StreamPart[] = [
  { type: "stream-start", warnings: [] },
  { type: "text-start", id: "text" },
  ...ANSWER.split(/(?<= )/).map((delta) => ({ type: "text-delta", id: "text", delta }) as const),
  { type: "text-end", id: "text" },
  { type: "finish", finishReason: STOP, usage: USAGE },
]

function toCallParts(id: string): readonly LanguageModelV4StreamPart[] {
  return [
    { type: "stream-start", warnings: [] },
    { type: "tool-input-start", id, toolName: LOOKUP_TOOL },
    { type: "tool-input-delta", id, delta: INPUT },
    { type: "tool-input-end", id },
    { type: "tool-call", toolCallId: id, toolName: LOOKUP_TOOL, input: INPUT },
    { type: "finish", finishReason: CALLS, usage: USAGE },
  ]
}
