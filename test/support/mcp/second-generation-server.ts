import { createServer, type IncomingMessage, type Server as HttpServer } from "node:http"
import type { AddressInfo } from "node:net"
import { createMcpHandler, McpServer, ProtocolError } from "@modelcontextprotocol/server"
import { onTestFinished } from "vitest"
import { z } from "zod"

const TASKS = "io.modelcontextprotocol/tasks"
const POLL_MS = 50
const UNKNOWN_TASK = -32_602

interface FixtureTask {
  readonly taskId: string
  status: "working" | "input_required" | "completed" | "failed" | "cancelled"
  statusMessage?: string
  result?: Record<string, unknown>
  error?: { code: number; message: string }
  inputRequests?: Record<string, unknown>
}

/** A server of the second generation, whose tasks live on while its HTTP door is shut and opened again. */
export interface SecondGenerationServer {
  readonly url: string
  readonly tasks: ReadonlyMap<string, FixtureTask>
  /** How often each tool was called. */
  readonly calls: ReadonlyMap<string, number>
  /** The answers that came with `tasks/update`. */
  readonly answers: readonly unknown[]
  finish(taskId: string, text: string): void
  fail(taskId: string, code: number, message: string): void
  addTool(name: string): void
  /** Drops every connection at once, as a crash does, and takes no new one. */
  stop(): Promise<void>
  restart(): Promise<void>
}

const QUESTION = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "Delete for good?",
    requestedSchema: { type: "object", properties: { sure: { type: "boolean", title: "Sure" } }, required: ["sure"] },
  },
}

const TOOLS = ["greet", "slow_job", "confirm_delete", "ask_first", "hang", "hang_idempotent", "refuse", "fail"]

export async function startSecondGenerationServer(): Promise<SecondGenerationServer> {
  const tasks = new Map<string, FixtureTask>()
  const calls = new Map<string, number>()
  const answers: unknown[] = []
  const names = [...TOOLS]

  function startTask(task: Omit<FixtureTask, "taskId">): Record<string, unknown> {
    const taskId = `task-${tasks.size + 1}`
    tasks.set(taskId, { taskId, ...task })
    const { inputRequests: _, ...created } = toView(taskId)
    return { resultType: "task", ...created }
  }
  function toView(taskId: string): Record<string, unknown> {
    const task = tasks.get(taskId)
    if (!task) throw new ProtocolError(UNKNOWN_TASK, `Unknown task ${taskId}`)
    const at = new Date(0).toISOString()
    return { ...task, createdAt: at, lastUpdatedAt: at, ttlMs: 60_000, pollIntervalMs: POLL_MS }
  }
  function settle(taskId: string, change: Partial<FixtureTask>): void {
    const task = tasks.get(taskId)
    if (task) Object.assign(task, change)
  }

  const handler = createMcpHandler(() => {
    const capabilities = { tools: { listChanged: true }, extensions: { [TASKS]: {} } }
    const whole = new McpServer({ name: "fixture", version: "1.0.0" }, { capabilities, instructions: "Be kind." })
    const { server } = whole
    server.setRequestHandler("tools/list", () => ({
      tools: names.map((name) => ({
        name,
        description: `Does ${name}.`,
        inputSchema: { type: "object" as const, properties: { name: { type: "string", maxLength: 9 } } },
        annotations: { idempotentHint: name === "hang_idempotent", destructiveHint: name === "confirm_delete" },
      })),
    }))
    server.setRequestHandler("tools/call", async ({ params }, context): Promise<never> => {
      const { name } = params
      const count = (calls.get(name) ?? 0) + 1
      calls.set(name, count)
      const text = (words: string) => ({ content: [{ type: "text", text: words }] })
      const answer = async (): Promise<unknown> => {
        if (name === "slow_job") return startTask({ status: "working", statusMessage: "counting" })
        if (name === "confirm_delete") return startTask({ status: "input_required", inputRequests: { q1: QUESTION } })
        if (name === "refuse") throw new ProtocolError(-32_602, "not like this")
        if (name === "fail") return { ...text("the disk is full"), isError: true }
        if (name === "hang" || (name === "hang_idempotent" && count === 1)) {
          return new Promise((_, reject) => context.mcpReq.signal.addEventListener("abort", () => reject(new Error())))
        }
        if (name !== "ask_first") return text(`hello ${String(params.arguments?.["name"])}`)
        const given = context.mcpReq.inputResponses
        if (!given) return { resultType: "input_required", inputRequests: { q1: QUESTION }, requestState: "s1" }
        return text(`answered ${JSON.stringify(given)}`)
      }
      return (await answer()) as never
    })
    const id = z.looseObject({ taskId: z.string() })
    server.setRequestHandler("tasks/get", { params: id }, ({ taskId }) => ({ ...toView(taskId) }))
    server.setRequestHandler("tasks/cancel", { params: id }, ({ taskId }) => {
      settle(taskId, { status: "cancelled" })
      return {}
    })
    server.setRequestHandler("tasks/update", { params: id }, ({ taskId }, context) => {
      answers.push(context.mcpReq.inputResponses)
      settle(taskId, { status: "working" })
      return {}
    })
    return whole
  })

  let http: HttpServer | null = null
  async function open(port: number): Promise<number> {
    http = createServer((request, response) => {
      void toRequest(request).then(async (asked) => {
        const answered = await handler.fetch(asked)
        response.writeHead(answered.status, Object.fromEntries(answered.headers))
        response.flushHeaders()
        for await (const chunk of answered.body ?? []) response.write(chunk)
        response.end()
      })
    })
    await new Promise<void>((resolve) => http?.listen(port, "127.0.0.1", resolve))
    return (http.address() as AddressInfo).port
  }
  async function stop(): Promise<void> {
    const closing = http
    http = null
    closing?.closeAllConnections()
    await new Promise<void>((resolve) => (closing ? closing.close(() => resolve()) : resolve()))
  }
  const port = await open(0)
  onTestFinished(stop)
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    tasks,
    calls,
    answers,
    finish: (taskId, text) =>
      settle(taskId, {
        status: "completed",
        result: { resultType: "complete", content: [{ type: "text", text }] },
      }),
    fail: (taskId, code, message) => settle(taskId, { status: "failed", error: { code, message } }),
    addTool: (name) => {
      names.push(name)
      handler.notify.toolsChanged()
    },
    stop,
    restart: async () => void (await open(port)),
  }
}

async function toRequest(request: IncomingMessage): Promise<Request> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)])
  const gone = new AbortController()
  request.socket.setMaxListeners(0).once("close", () => gone.abort())
  return new Request(`http://${request.headers.host}${request.url}`, {
    method: request.method ?? "GET",
    headers,
    signal: gone.signal,
    ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
  })
}
