import { z } from "zod"
import { isMeanwhileError, MeanwhileError } from "../../base/error.ts"
import type { JsonObject, JsonValue } from "../../base/json.ts"
import { lazily } from "../../base/lazily.ts"
import type { ToolContext } from "../../plugin/context.ts"
import { failWith, type ToolReturn } from "../../plugin/tool.ts"
import type { Step } from "../../task/step.ts"
import {
  type Connection,
  ConnectionLost,
  type RequestOptions,
  ServerRefusal,
  type ToolDefinition,
} from "./connection.ts"
import { answerRequests } from "./elicitation.ts"
import { cancelTask, followTask } from "./follow-task.ts"
import type { ServerLink } from "./server-link.ts"
import { toToolAnswer } from "./tool-answer.ts"

export interface ServerCall {
  readonly link: ServerLink
  readonly tool: ToolDefinition
  /** The effect of calling it twice is that of calling it once. */
  readonly isIdempotent: boolean
}

/** The record that the step of a call keeps. */
const begun = lazily(() =>
  z.union([z.object({ taskId: z.string() }), z.object({ result: z.record(z.string(), z.json()) })]),
)
type Begun = { readonly taskId: string } | { readonly result: JsonObject }

const CALL_STEP = "mcp-call"
const FOLLOW_STEP = "mcp-follow"
/** How long a call waits for a server that is away. */
const RECONNECT_WAIT_MS = 30_000
/** How long the end of a task waits for a server that is away. */
const END_WAIT_MS = 5_000
const LONGEST_DIALOGUE = 10
const ATTEMPTS = 3

/**
 * Calls a tool of a server. The call itself is one step. The step records the result, or the id of the task that the
 * server made of the call. An outer step around it may always be repeated: while both are open the stricter one counts,
 * and once the call has ended the outer one alone. An idempotent tool is called again wherever Meanwhile died. For any
 * other tool, when Meanwhile dies
 *
 * - before promotion: nothing is written of the steps, and the turn tells the model that the call was interrupted;
 * - inside the call: nobody knows whether the server got it, and the task ends `interrupted`. A task that the server
 *   may have made of the call is unknown to us and ends by the server's own rules;
 * - after the call: the result is there, or the server's task is found by its id, even if that task has ended by then;
 * - in the moment before the outer step is written: the task ends `interrupted`;
 * - after the outer step has ended and before our task has: the result is there;
 * - while it was being stopped: the worker that finds our task ends the server's task.
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
    const callNow = async (): Promise<Begun> => {
      const told = await begin(call, input, context)
      if ("taskId" in told) open.taskId = told.taskId
      return told
    }
    const callOnce = async (): Promise<Begun> => begun().parse(await context.step(CALL_STEP, callNow, { onCrash }))
    const follow = async (): Promise<JsonObject | null> => {
      const known = await callOnce()
      if ("result" in known) return null
      open.taskId = known.taskId
      return followTask(link, open.taskId, context)
    }
    const followed = await context.step(FOLLOW_STEP, follow, { onCrash: "retry" })
    return toToolAnswer(tool.name, followed ?? resultOf(await callOnce()))
  } catch (error) {
    if (open.taskId !== null && isStopped(context)) await cancelTask(link, open.taskId)
    if (!(error instanceof ServerRefusal)) throw error
    const message = link.scrub(`The MCP server ${link.name} refused ${tool.name}: ${error.message} (${error.code})`)
    return failWith({ code: "server_error", message })
  }
}

/**
 * Ends the server's task of a run whose process died while it was being stopped. False if that task may still run: a
 * call without an answer may have made one that nobody knows.
 */
export async function endServerTask(link: ServerLink, steps: readonly Step[]): Promise<boolean> {
  const step = steps.find(({ key }) => key === CALL_STEP)
  if (!step) return true
  const known = begun().safeParse(step.state === "finished" ? step.result : null)
  if (!known.success) return false
  return "result" in known.data || cancelTask(link, known.data.taskId, END_WAIT_MS)
}

/** False if another worker has taken the run over: that worker follows the server's task now. */
function isStopped({ signal }: ToolContext): boolean {
  return signal.aborted && !isMeanwhileError(signal.reason, "stale_claim")
}

function resultOf(known: Begun): JsonObject {
  return "result" in known ? known.result : {}
}

/** Makes the call, and repeats it over a new connection as long as that cannot do anything twice. */
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
    const options: RequestOptions = {
      signal: context.signal,
      onProgress: ({ done, total, line }) =>
        context.progress({ done, total, ...(line !== null && { line: link.scrub(line) }) }),
    }
    const answer = await context.act(() => connection.callTool(tool, input, options, more))
    if (answer.kind === "task") return { taskId: answer.taskId }
    if (answer.kind === "result") return { result: answer.result }
    const inputResponses = await answerRequests(link.name, answer.requests, context)
    more = { inputResponses, ...(answer.requestState !== null && { requestState: answer.requestState }) }
  }
  throw new ServerRefusal(0, `it went on asking after ${LONGEST_DIALOGUE} rounds of answers`)
}
