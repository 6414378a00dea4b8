import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"
import { actFreely, type ToolContext } from "../../../src/plugin/context.ts"
import type { ContentPart } from "../../../src/plugin/message.ts"
import { contentOf } from "../../../src/plugin/tool.ts"
import type { Progress } from "../../../src/task/progress.ts"
import { createWebPlugin, type WebPluginOptions } from "../../../src/builtin/web/web-plugin.ts"
import { parsed } from "../plugin/parsed.ts"

type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** A server of the test, on a port of its own. */
export async function serve(
  handler: Handler,
): Promise<{ readonly host: string; readonly url: string; readonly port: number }> {
  const server = createServer(handler)
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(0, "127.0.0.1", resolve)
  await promise
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { host: `127.0.0.1:${port}`, url: `http://127.0.0.1:${port}/`, port }
}

export const page =
  (body: string | Uint8Array, type = "text/html; charset=utf-8", more: Record<string, string> = {}): Handler =>
  (_request, response) =>
    response.writeHead(200, { "content-type": type, ...more }).end(body)

interface Returned {
  readonly text?: string
  readonly code?: string
  readonly message?: string
}

export function createWeb(options: WebPluginOptions = {}) {
  const [tool] = createWebPlugin({ retryDelaysMs: [1, 1], ...options }).tools
  if (!tool) throw new Error("the plugin has no tool")
  const controller = new AbortController()
  const reports: Partial<Progress>[] = []
  const progress = (update: Partial<Progress>): void => void reports.push(update)
  const context = { signal: controller.signal, act: actFreely, progress }
  const fetch = async (input: object): Promise<Returned> => {
    const returned = (await tool.run(parsed(tool.input, input), context as unknown as ToolContext)) as {
      readonly patch?: { readonly payload: Parameters<typeof contentOf>[0] }
      readonly failure?: { readonly code: string; readonly message: string }
    }
    if (returned.failure) return returned.failure
    const [part] = contentOf(returned.patch?.payload ?? null) as readonly ContentPart[]
    return { text: part?.type === "text" ? part.text : "" }
  }
  return { tool, fetch, reports, controller }
}
