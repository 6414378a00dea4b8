import { once } from "node:events"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"
import { type Api, connectTo, type Wire } from "./wire.ts"

export interface StreamAnswer {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as they are. */
  readonly chunks: readonly string[]
  /** Default `end`. `drop` breaks the connection after the chunks, `hang` keeps it open. */
  readonly ending?: "end" | "drop" | "hang"
}

/** Answers every request with the given text, for answers that the shared fake of all providers cannot give. */
export async function createStreamServer(
  answer: StreamAnswer,
  options?: Parameters<typeof connectTo>[1],
): Promise<Omit<Wire, "mock">> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => void send(response, answer))
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return connectTo(`http://127.0.0.1:${port}`, options)
}

async function send(response: ServerResponse, { status = 200, headers, chunks, ending = "end" }: StreamAnswer) {
  const type = status === 200 ? "text/event-stream" : "application/json"
  response.writeHead(status, { "content-type": type, ...headers })
  for (const chunk of chunks) await new Promise((resolve) => response.write(chunk, resolve))
  if (ending === "end") response.end()
  if (ending === "drop") response.socket?.resetAndDestroy()
}

export function toEvents(...values: readonly unknown[]): readonly string[] {
  return values.map((value) => `data: ${JSON.stringify(value)}\n\n`)
}

/** The beginning of an answer, "Hi.", in each API's format. */
export const BEGINNINGS: Record<Api, readonly string[]> = {
  responses: toEvents(
    { type: "response.created", response: { id: "resp_1", created_at: 1, model: "gpt-5" } },
    { type: "response.output_item.added", output_index: 0, item: { type: "message", id: "msg_1" } },
    { type: "response.output_text.delta", item_id: "msg_1", delta: "Hi." },
  ),
  chat: toEvents({
    id: "chat_1",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta: { role: "assistant", content: "Hi." } }],
  }),
  anthropic: toEvents(
    {
      type: "message_start",
      message: {
        id: "msg_1",
        type: "message",
        role: "assistant",
        model: "m",
        content: [],
        stop_reason: null,
        usage: { input_tokens: 20, cache_read_input_tokens: 100, cache_creation_input_tokens: 0, output_tokens: 1 },
      },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi." } },
  ),
  google: toEvents({ candidates: [{ index: 0, content: { role: "model", parts: [{ text: "Hi." }] } }] }),
}

/** Whole answers that used 120 tokens, 100 of them from a cache, and wrote 30, 10 of them in thought. */
export const COUNTED_ANSWERS: Record<Api, readonly string[]> = {
  responses: [
    ...BEGINNINGS.responses,
    ...toEvents(
      { type: "response.output_item.done", output_index: 0, item: { type: "message", id: "msg_1" } },
      {
        type: "response.completed",
        response: {
          id: "resp_1",
          usage: {
            input_tokens: 120,
            input_tokens_details: { cached_tokens: 100 },
            output_tokens: 30,
            output_tokens_details: { reasoning_tokens: 10 },
          },
        },
      },
    ),
  ],
  chat: [
    ...BEGINNINGS.chat,
    ...toEvents(
      { choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
      {
        choices: [],
        usage: {
          prompt_tokens: 120,
          completion_tokens: 30,
          prompt_tokens_details: { cached_tokens: 100 },
          completion_tokens_details: { reasoning_tokens: 10 },
        },
      },
    ),
    "data: [DONE]\n\n",
  ],
  anthropic: [
    ...BEGINNINGS.anthropic,
    ...toEvents(
      { type: "content_block_stop", index: 0 },
      {
        type: "message_delta",
        delta: { stop_reason: "end_turn", stop_sequence: null },
        usage: { output_tokens: 30, output_tokens_details: { thinking_tokens: 10 } },
      },
      { type: "message_stop" },
    ),
  ],
  google: [
    ...BEGINNINGS.google,
    ...toEvents({
      candidates: [{ index: 0, content: { role: "model", parts: [] }, finishReason: "STOP" }],
      usageMetadata: {
        promptTokenCount: 120,
        cachedContentTokenCount: 100,
        candidatesTokenCount: 20,
        thoughtsTokenCount: 10,
        totalTokenCount: 150,
      },
    }),
  ],
}
