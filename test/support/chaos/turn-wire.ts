import { appendFileSync } from "node:fs"
import { type ChatCompletionRequest, type ChatMessage, LLMock } from "@copilotkit/aimock"
import type { Message } from "../../../src/plugin/message.ts"
import { findBrokenConversation } from "./turn-conversation.ts"
import { tellFrom } from "./turn-story.ts"

/** A server that speaks an OpenAI-compatible API and answers with stories. */
export interface TurnWire {
  /** The URL of the API, with its version. */
  readonly baseUrl: string
  /** Problems of requests that a strict provider would refuse. */
  readonly problems: readonly string[]
  /** Writes `asked STORY STEP` to the file for every question of the story, as it arrives. */
  listen(story: string, effectsFile: string, onAsked: () => void): void
  close(): Promise<void>
}

const LATENCY_MS = 4
const CHUNK_SIZE = 6

export async function openTurnWire(): Promise<TurnWire> {
  const mock = new LLMock({ port: 0, host: "127.0.0.1", latency: LATENCY_MS, chunkSize: CHUNK_SIZE })
  const listeners = new Map<string, (step: number) => void>()
  const problems: string[] = []
  mock.on({ endpoint: "chat" }, (request) => {
    const messages = toMessages(request)
    const { place, text, calls } = tellFrom(messages)
    listeners.get(place.story)?.(place.step)
    problems.push(...findBrokenConversation(messages).map((problem) => `${place.story} ${place.step}: ${problem}`))
    if (calls.length === 0) return { content: text, usage: USAGE }
    const toolCalls = calls.map(({ id, tool, input }) => ({ id, name: tool, arguments: JSON.stringify(input) }))
    return { content: text, toolCalls, usage: USAGE }
  })
  await mock.start()
  return {
    baseUrl: `${mock.url}/v1`,
    problems,
    listen(story, effectsFile, onAsked) {
      listeners.set(story, (step) => {
        appendFileSync(effectsFile, `asked ${story} ${step}\n`)
        onAsked()
      })
    },
    close: () => mock.stop(),
  }
}

const USAGE = { prompt_tokens: 120, completion_tokens: 30 }

/** The request as Meanwhile's own messages: neighbouring results become one message. */
function toMessages({ messages }: ChatCompletionRequest): readonly Message[] {
  const read: Message[] = []
  for (const message of messages) {
    if (message.role === "system") continue
    const last = read.at(-1)
    if (message.role === "tool" && last?.role === "tool") {
      read[read.length - 1] = { role: "tool", parts: [...last.parts, toResult(message)] }
    } else read.push(toMessage(message))
  }
  return read
}

function toMessage(message: ChatMessage): Message {
  const text = { type: "text", text: toText(message) } as const
  if (message.role === "tool") return { role: "tool", parts: [toResult(message)] }
  if (message.role !== "assistant") return { role: "user", parts: [text] }
  const calls = (message.tool_calls ?? []).map(
    ({ id, function: { name } }) => ({ type: "call", id, tool: name, input: null }) as const,
  )
  return { role: "assistant", parts: [...(text.text === "" ? [] : [text]), ...calls] }
}

function toResult(message: ChatMessage) {
  const content = [{ type: "text", text: toText(message) }] as const
  return { type: "result", callId: message.tool_call_id ?? "", tool: "", isError: false, content } as const
}

function toText({ content }: ChatMessage): string {
  if (typeof content === "string") return content
  return (content ?? []).map((part) => part.text ?? "").join("")
}
