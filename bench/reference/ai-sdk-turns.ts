import { generateText, isStepCount, type ModelMessage, streamText, tool } from "ai"
import { z } from "zod"
import { createTurnModel, LOOKUP_TOOL, lookUpWeather } from "../turn-model.ts"
import type { Side } from "../turn-side.ts"

/** The same conversations with the AI SDK. The messages are carried along in an array and kept nowhere else. */
export function createAiSdkSide(kind: "generateText" | "streamText"): Side {
  const model = createTurnModel()
  const tools = {
    [LOOKUP_TOOL]: tool({
      description: "The weather of a city.",
      inputSchema: z.object({ city: z.string() }),
      execute: lookUpWeather,
    }),
  }
  const stopWhen = isStepCount(50)

  async function generate(messages: ModelMessage[]): Promise<string> {
    const { responseMessages, text } = await generateText({ model, tools, stopWhen, messages })
    messages.push(...responseMessages)
    return text
  }

  async function stream(messages: ModelMessage[]): Promise<string> {
    const streamed = streamText({ model, tools, stopWhen, messages })
    let printed = ""
    for await (const part of streamed.stream) if (part.type === "text-delta") printed += part.text
    messages.push(...(await streamed.responseMessages))
    return printed
  }

  const take = kind === "generateText" ? generate : stream
  return {
    async converse() {
      const messages: ModelMessage[] = []
      return {
        ask(question) {
          messages.push({ role: "user", content: question })
          return take(messages)
        },
        async [Symbol.asyncDispose]() {},
      }
    },
    commits: () => ({ commits: 0, waitingCommits: 0 }),
    async [Symbol.asyncDispose]() {},
  }
}
