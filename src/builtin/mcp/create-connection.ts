import {
  type Client,
  type Progress,
  type RequestOptions as SdkRequestOptions,
  fromJsonSchema,
  isInputRequiredResult,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Tool,
} from "@modelcontextprotocol/client"
import { z } from "zod"
import { toErrorMessage } from "../../base/error.ts"
import { type JsonObject, toJson } from "../../base/json.ts"
import { carriedTaskOf, STREAM_ENDED } from "./carry-task.ts"
import {
  type CallAnswer,
  type Connection,
  ConnectionLost,
  type InputRequests,
  type RequestOptions,
  ServerRefusal,
  type ToolDefinition,
} from "./connection.ts"

/** The runner's own time limits hold for calls; the client's must not come before them. */
const LONGEST_WAIT_MS = 2_147_483_647

const anyResult = z.looseObject({})
const createdTask = z.looseObject({ task: z.looseObject({ taskId: z.string().min(1) }) })
const CONNECTION_CODES: readonly string[] = [
  SdkErrorCode.ConnectionClosed,
  SdkErrorCode.NotConnected,
  SdkErrorCode.SendFailed,
]
/** Statuses of a gateway without its server, or of a session that a restarted server does not know. */
const GONE_STATUSES: readonly number[] = [404, 502, 503, 504]

export function createConnection(client: Client, closed: Promise<void>): Connection {
  const generation = client.getProtocolEra() === "modern" ? "second" : "first"
  const takesTasks = client.getServerCapabilities()?.tasks?.requests?.tools?.call !== undefined
  const definitions = new WeakMap<ToolDefinition, Tool>()

  async function send(method: string, params: JsonObject, options: RequestOptions): Promise<JsonObject> {
    return translating(options.signal, async () =>
      toJsonObject(await client.request({ method, params: { ...params } }, anyResult, toSdkOptions(options))),
    )
  }

  return {
    generation,
    closed,
    instructions: client.getInstructions() ?? "",
    close: () => client.close(),
    request: send,
    listTools: () =>
      translating(null, async () => {
        const { tools } = await client.listTools(undefined, { cacheMode: "refresh" })
        return tools.map((tool) => {
          const definition = toDefinition(tool, generation === "first" && takesTasks)
          definitions.set(definition, tool)
          return definition
        })
      }),
    async callTool(tool, input, options, more = {}): Promise<CallAnswer> {
      const params = { name: tool.name, arguments: input, ...more }
      if (tool.asksForTask) {
        const result = await send("tools/call", { ...params, task: {} }, options)
        const created = createdTask.safeParse(result)
        return created.success ? { kind: "task", taskId: created.data.task.taskId } : { kind: "result", result }
      }
      const { outputSchema: _, ...definition } = definitions.get(tool) ?? { name: tool.name, inputSchema: {} }
      return translating(options.signal, async () => {
        // Without the output schema: the client would check a task against it, which has no output yet.
        const call = { ...toSdkOptions(options), allowInputRequired: true, toolDefinition: definition as Tool }
        return toAnswer(await client.callTool(params, call))
      })
    },
  }
}

function toAnswer(result: unknown): CallAnswer {
  const taskId = carriedTaskOf(result)
  if (taskId !== null) return { kind: "task", taskId }
  if (!isInputRequiredResult(result)) return { kind: "result", result: toJsonObject(result) }
  const requests = toJson(result.inputRequests ?? {}) as unknown as InputRequests
  return { kind: "input_required", requests, requestState: result.requestState ?? null }
}

function toDefinition(tool: Tool, takesTasks: boolean): ToolDefinition {
  const { name, title, description, annotations, execution } = tool
  const inputSchema = toJsonObject(tool.inputSchema)
  return {
    name,
    description: description ?? title ?? annotations?.title ?? name,
    inputSchema,
    isReadOnly: annotations?.readOnlyHint === true,
    isDestructive: annotations?.destructiveHint === true,
    isIdempotent: annotations?.idempotentHint === true || annotations?.readOnlyHint === true,
    asksForTask: takesTasks && (execution?.taskSupport === "required" || execution?.taskSupport === "optional"),
    check: createCheck(inputSchema),
  }
}

/** A schema that cannot be compiled checks nothing: the server checks what it gets anyway. */
function createCheck(schema: JsonObject): ToolDefinition["check"] {
  let validate: ReturnType<typeof fromJsonSchema>["~standard"]["validate"] | null = null
  try {
    validate = fromJsonSchema({ ...schema })["~standard"].validate
  } catch {
    return () => []
  }
  return (input) => {
    const checked = validate(input)
    if (checked instanceof Promise) return []
    return (checked.issues ?? []).map(({ message }) => message)
  }
}

function toSdkOptions({ signal, onProgress }: RequestOptions): SdkRequestOptions {
  return {
    signal,
    timeout: LONGEST_WAIT_MS,
    ...(onProgress && {
      onprogress: ({ progress, total, message }: Progress) =>
        onProgress({ done: progress, total: total ?? null, line: message ?? null }),
    }),
  }
}

async function translating<Result>(signal: AbortSignal | null, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    signal?.throwIfAborted()
    throw toOwnError(error)
  }
}

function toOwnError(error: unknown): Error {
  const message = describeError(error)
  if (error instanceof ProtocolError && error.code !== STREAM_ENDED) return new ServerRefusal(error.code, message)
  if (error instanceof SdkHttpError) {
    const { status } = error
    if (status === undefined || !GONE_STATUSES.includes(status)) return new ServerRefusal(status ?? 0, message)
    return new ConnectionLost(message, { cause: error, mayHaveArrived: status !== 404 })
  }
  const isGone =
    error instanceof ProtocolError ||
    error instanceof TypeError ||
    (error instanceof SdkError && CONNECTION_CODES.includes(error.code)) ||
    message === "Not connected"
  if (!isGone) return error instanceof Error ? error : new Error(message)
  const wasRefused = message.includes("ECONNREFUSED") || message === "Not connected"
  return new ConnectionLost(message, { cause: error, mayHaveArrived: !wasRefused })
}

/** The error with its causes: "fetch failed" alone says nothing. */
export function describeError(error: unknown): string {
  const message = toErrorMessage(error)
  const reason = error instanceof Error && error.cause !== undefined ? describeError(error.cause) : ""
  return reason === "" || message.includes(reason) ? message : `${message}: ${reason}`
}

function toJsonObject(value: unknown): JsonObject {
  return toJson(value) as JsonObject
}
