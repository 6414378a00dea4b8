import { expect } from "vitest"
import type { ContextUsage } from "../../../src/plugin/context-usage.ts"
import type { Collection, CollectionContext, GcConfig, GcPlugin } from "../../../src/plugin/gc-plugin.ts"
import { callsOf, type Message, textOf, userMessage } from "../../../src/plugin/message.ts"
import type { ProviderResponse } from "../../../src/plugin/model.ts"
import { NO_TOKENS } from "../../../src/plugin/token-usage.ts"
import { createHybridGc, createSummarizeGc, createTruncateGc } from "../../../src/builtin/gc/gc-plugin.ts"

export const CONFIG: GcConfig = { thresholdPercent: 75, targetPercent: 50 }

export const estimateTokens = (message: Message): number => Math.ceil(JSON.stringify(message.parts).length / 4)
export const sum = (messages: readonly Message[]): number =>
  messages.reduce((total, message) => total + estimateTokens(message), 0)

export function toUsage(messages: readonly Message[], limitTokens: number): ContextUsage {
  const usedTokens = sum(messages)
  return { usedTokens, limitTokens, percentUsed: (100 * usedTokens) / limitTokens, turns: 0 }
}

export type Answer = (request: string, system: string) => string

/** A model that answers as told and remembers what it was asked. */
export function createContext(
  answer: Answer = () => "What happened so far.",
  signal: AbortSignal = new AbortController().signal,
) {
  const requests: string[] = []
  const generate: CollectionContext["model"]["generate"] = async ({ system = "", messages }) => {
    const request = messages.map(textOf).join("\n")
    requests.push(request)
    const text = answer(request, system)
    const message: ProviderResponse["message"] = { role: "assistant", parts: [{ type: "text", text }] }
    return { message, finish: "stop", usage: NO_TOKENS }
  }
  const context: CollectionContext = { model: { id: "test/model", generate }, estimateTokens, signal }
  return { context, requests }
}

export async function collect(
  plugin: GcPlugin,
  messages: readonly Message[],
  limitTokens: number,
  { context = createContext().context, config = CONFIG } = {},
): Promise<Collection> {
  return plugin.collect(messages, toUsage(messages, limitTokens), config, "It is due.", context)
}

export const say = (text: string): Message => ({ role: "assistant", parts: [{ type: "text", text }] })
export const call = (id: string, result: string): readonly Message[] => [
  { role: "assistant", parts: [{ type: "call", id, tool: "read", input: { path: id } }] },
  {
    role: "tool",
    parts: [{ type: "result", callId: id, tool: "read", isError: false, content: [{ type: "text", text: result }] }],
  },
]
export const talk = (turns: number, length = 200): Message[] =>
  Array.from({ length: turns }, (_, index) => [
    userMessage(`question ${index} ${"q".repeat(length)}`),
    say(`answer ${index} ${"a".repeat(length)}`),
  ]).flat()

export const PLUGINS = {
  truncate: createTruncateGc,
  summarize: createSummarizeGc,
  hybrid: createHybridGc,
}

export function expectPairs(messages: readonly Message[]): void {
  let open: string[] = []
  for (const message of messages) {
    if (message.role === "tool") {
      for (const { callId } of message.parts) {
        expect(open).toContain(callId)
        open = open.filter((id) => id !== callId)
      }
    } else {
      expect(open).toEqual([])
      open = callsOf(message).map(({ id }) => id)
    }
  }
  expect(open).toEqual([])
}
