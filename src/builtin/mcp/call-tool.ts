import { z } from "zod"
import { MeanwhileError } from "../../base/error.ts"
import type { JsonObject, JsonValue } from "../../base/json.ts"
import type { ToolContext } from "../../plugin/context.ts"
import { failWith, type ToolReturn } from "../../plugin/tool-return.ts"
import { type Connection, ConnectionLost, ServerRefusal, type ToolDefinition } from "./connection.ts"
import { answerRequests } from "./elicitation.ts"
import { followTask } from "./follow-task.ts"
import type { ServerLink } from "./server-link.ts"
import { toToolAnswer } from "./tool-answer.ts"

export interface ServerCall {
  readonly link: ServerLink
  readonly tool: ToolDefinition
  /** The effect of calling it twice is that of calling it once. */
  readonly isIdempotent: boolean
}

/** What the step records of a call. */
const begun = z.union([z.object({ taskId: z.string() }), z.object({ result: z.record(z.string(), z.json()) })])
type Begun = { readonly taskId: string } | { readonly result: JsonObject }

const CALL_STEP = "mcp-call"
/** How long a call waits for a server that is away. */
const RECONNECT_WAIT_MS = 30_000
const LONGEST_DIALOGUE = 10
const ATTEMPTS = 3

/**
 * Calls a tool of a server. The call itself is one step, whose record is the result, or the id of the task that the
 * server made of it. When Meanwhile dies
 *
 * - before the step is written: nothing was sent, and the call is made by the next run;
 * - inside the step: the server may have got the call or not. It is made again if the tool is idempotent; otherwise the
 *   task ends `interrupted`. A task that the server may have made of it is unknown to us and ends by its own rules;
 * - after the step: the result is there, or the server's task is picked up by its id;
 * - after the server's task has ended and before ours has: the server is asked again and tells the same.
 */
export async function callServerTool(
  call: ServerCall,
  input: JsonObject,
  context: ToolContext,
): Promise<JsonValue | ToolReturn> {
  const { link, tool, isIdempotent } = call
  using open = link.calls.open(context)
  try {
    const onCrash = isIdempotent ? "retry" : "fail"
    const known = begun.parse(await context.step(CALL_STEP, () => begin(call, input, context), { onCrash }))
    if ("result" in known) return toToolAnswer(tool.name, known.result)
    open.taskId = known.taskId
    return toToolAnswer(tool.name, await followTask(link, open.taskId, context))
  } catch (error) {
    if (!(error instanceof ServerRefusal)) throw error
    const message = link.scrub(`The MCP server ${link.name} refused ${tool.name}: ${error.message} (${error.code})`)
    return failWith({ code: "server_error", message })
  }
}

/** Over a new connection, as long as that cannot do anything twice. */
async function begin(call: ServerCall, input: JsonObject, context: ToolContext): Promise<Begun> {
  const { link, tool, isIdempotent } = call
  for (let attempt = 1; ; attempt++) {
    const connection = await link.connection(context.signal, RECONNECT_WAIT_MS)
    try {
      return await converse(connection, call, input, context)
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error
      link.lose(connection, error)
      const mayRepeat = isIdempotent || !error.mayHaveArrived
      if (mayRepeat && attempt < ATTEMPTS) continue
      const told = mayRepeat ? "" : "; whether it finished is not known"
      const message = `The connection to the MCP server ${link.name} was lost while ${tool.name} ran${told}.`
      throw new MeanwhileError("plugin_unavailable", message, { server: link.name, tool: tool.name }, { cause: error })
    }
  }
}

/** A server of the second generation may answer with questions, and is then called again with the answers. */
async function converse(
  connection: Connection,
  { link, tool }: ServerCall,
  input: JsonObject,
  context: ToolContext,
): Promise<Begun> {
  let more: JsonObject = {}
  for (let round = 0; round < LONGEST_DIALOGUE; round++) {
    const options = {
      signal: context.signal,
      onProgress: ({ done, total, line }: { done: number; total: number | null; line: string | null }) =>
        context.progress({ done, total, ...(line !== null && { line: link.scrub(line) }) }),
    }
    const answer = await connection.callTool(tool, input, options, more)
    if (answer.kind === "task") return { taskId: answer.taskId }
    if (answer.kind === "result") return { result: answer.result }
    const inputResponses = await answerRequests(link.name, answer.requests, context)
    more = { inputResponses, ...(answer.requestState !== null && { requestState: answer.requestState }) }
  }
  throw new ServerRefusal(0, `it went on asking after ${LONGEST_DIALOGUE} rounds of answers`)
}
