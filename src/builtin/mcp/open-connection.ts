import {
  Client,
  type ClientOptions,
  SdkError,
  SdkErrorCode,
  StreamableHTTPClientTransport,
  type Transport,
} from "@modelcontextprotocol/client"
import { type JsonObject, toJson } from "../../base/json.ts"
import { VERSION } from "../../base/version.ts"
import { carryTasks } from "./carry-task.ts"
import type { Connection } from "./connection.ts"
import { createConnection, describeError } from "./create-connection.ts"
import type { ServerTransport } from "./mcp-config.ts"
import { createServerProcess } from "./server-process.ts"

export interface OpenOptions {
  readonly transport: ServerTransport
  readonly workingDirectory: string
  readonly environment: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly signal: AbortSignal
  readonly onToolsChanged: () => void
  readonly onLog: (level: string, text: string) => void
  /** A question of a first-generation server. `taskId`: the server's task it belongs to, if it says so. */
  readonly onElicit: (params: JsonObject, taskId: string | null, signal: AbortSignal) => Promise<JsonObject>
}

const TASKS_EXTENSION = "io.modelcontextprotocol/tasks"
/** Where a first-generation server says which of its tasks a question belongs to. */
const RELATED_TASK = "io.modelcontextprotocol/related-task"
const CLIENT_INFO = { name: "meanwhile", version: VERSION }

/**
 * Connects with the newest protocol that the server speaks. A server of the first generation may end when it is asked
 * for the second: it is started once more and asked for the first alone.
 */
export async function openConnection(options: OpenOptions): Promise<Connection> {
  try {
    return await connect(options, "auto")
  } catch (error) {
    const mayBeOld = error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed
    if (options.transport.kind !== "stdio" || options.signal.aborted || !mayBeOld) throw error
    return connect(options, "legacy")
  }
}

async function connect(options: OpenOptions, mode: "auto" | "legacy"): Promise<Connection> {
  const { signal, timeoutMs } = options
  const { transport, lastLine } = createTransport(options)
  const client = new Client(CLIENT_INFO, toClientOptions(options, mode))
  client.setRequestHandler("elicitation/create", async ({ params }, context) => {
    const related = params._meta?.[RELATED_TASK]
    const { taskId = null } = (related ?? {}) as { taskId?: string | null }
    const answer = await options.onElicit(toJson(params) as JsonObject, taskId, context.mcpReq.signal)
    return answer as { action: "accept" | "decline" | "cancel" }
  })
  client.setNotificationHandler("notifications/message", ({ params: { level, data } }) => {
    options.onLog(level, typeof data === "string" ? data : JSON.stringify(data))
  })
  const closed = Promise.withResolvers<void>()
  const onerror = (error: Error): void => options.onLog("debug", error.message)
  Object.assign(client, { onclose: () => closed.resolve(), onerror })
  const giveUp = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
  const aborted = Promise.withResolvers<never>()
  giveUp.addEventListener("abort", () => aborted.reject(new Error(`it did not answer within ${timeoutMs} ms`)))
  try {
    await Promise.race([client.connect(transport, { timeout: timeoutMs, signal: giveUp }), aborted.promise])
  } catch (error) {
    await transport.close().catch(() => undefined)
    const line = lastLine() === "" ? "" : ` (it printed: ${lastLine()})`
    if (error instanceof Error) error.message = `${describeError(error)}${line}`
    throw error
  }
  void client.autoOpenedSubscription?.closed.then(async (how) => {
    if (how === "remote") await client.close()
  })
  return createConnection(client, closed.promise)
}

function toClientOptions({ timeoutMs, onToolsChanged }: OpenOptions, mode: "auto" | "legacy"): ClientOptions {
  return {
    // Sampling and roots are not offered: a server has no business with the model or the folders of others.
    capabilities: { elicitation: { form: {} }, extensions: { [TASKS_EXTENSION]: {} } },
    // Half the time, so that a silent server of the first generation can still be greeted in the other half.
    versionNegotiation: { mode, probe: { timeoutMs: Math.ceil(timeoutMs / 2) } },
    inputRequired: { autoFulfill: false },
    listChanged: { tools: { autoRefresh: false, onChanged: onToolsChanged } },
  }
}

function createTransport(options: OpenOptions): { transport: Transport; lastLine: () => string } {
  const { transport: given, workingDirectory, environment } = options
  if (given.kind === "stdio") {
    const { command, args, cwd = workingDirectory, env } = given
    const process = createServerProcess({ command, args, cwd, env: toEnvironment(environment, env) })
    return { transport: process, lastLine: () => process.lastLine() }
  }
  if (given.kind === "sse") {
    throw new Error("it is of type sse, which MCP has given up. Give its streamable HTTP address, with type http")
  }
  const http = new StreamableHTTPClientTransport(new URL(given.url), { requestInit: { headers: given.headers } })
  return { transport: carryTasks(http), lastLine: () => "" }
}

/** Variables a program needs to start at all; none of them is a secret. */
const BASICS = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TERM", "TMPDIR", "TZ"]

/** All a server gets to see: the basics of Meanwhile's own environment, and what the configuration gives it. */
function toEnvironment(
  environment: Readonly<Record<string, string>>,
  ofServer: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const basics = Object.entries(environment).filter(([name]) => BASICS.includes(name))
  return { ...Object.fromEntries(basics), ...ofServer }
}
