import { z } from "zod"
import type { JsonObject } from "../../base/json.ts"
import { lazily } from "../../base/lazily.ts"
import type { ToolContext } from "../../plugin/context.ts"
import { type Connection, ConnectionLost, ServerRefusal } from "./connection.ts"
import { answerRequests } from "./elicitation.ts"
import type { ServerLink } from "./server-link.ts"
import { setTimeout as pause } from "node:timers/promises"

const DEFAULT_POLL_MS = 1_000
const SHORTEST_POLL_MS = 50
const LONGEST_POLL_MS = 60_000
const CANCEL_WAIT_MS = 5_000
const INTERNAL_ERROR = -32_603

const serverTask = lazily(() =>
  z.looseObject({
    status: z.enum(["working", "input_required", "completed", "failed", "cancelled"]),
    statusMessage: z.string().optional(),
    pollInterval: z.number().optional(),
    pollIntervalMs: z.number().optional(),
    result: z.record(z.string(), z.json()).optional(),
    error: z.looseObject({ code: z.number().default(INTERNAL_ERROR), message: z.string().default("") }).optional(),
    inputRequests: z
      .record(z.string(), z.looseObject({ method: z.string(), params: z.record(z.string(), z.json()).default({}) }))
      .default({}),
  }),
)

type ServerTask = z.output<ReturnType<typeof serverTask>>

interface Following {
  readonly link: ServerLink
  readonly taskId: string
  readonly context: ToolContext
  /** Keys of the questions that were answered: a server may list them until it has seen the answer. */
  readonly answered: Set<string>
}

/**
 * Follows a task of a server to its end, over as many connections as it takes. Resolves with the result of the call;
 * rejects with `ServerRefusal` if the task failed or was cancelled.
 */
export async function followTask(link: ServerLink, taskId: string, context: ToolContext): Promise<JsonObject> {
  const following: Following = { link, taskId, context, answered: new Set() }
  for (;;) {
    const connection = await link.connection(context.signal)
    try {
      return await (connection.generation === "first"
        ? followFirst(connection, following)
        : followSecond(connection, following))
    } catch (error) {
      context.signal.throwIfAborted()
      if (!(error instanceof ConnectionLost)) throw error
      link.lose(connection, error)
      context.progress({ line: `waiting for ${link.name} to come back` })
    }
  }
}

/** `tasks/result` waits for the end and brings the server's questions along; `tasks/get` beside it tells how far it is. */
async function followFirst(connection: Connection, following: Following): Promise<JsonObject> {
  const { taskId, context } = following
  const over = new AbortController()
  const signal = AbortSignal.any([context.signal, over.signal])
  const watching = watch(connection, following, signal).catch(() => undefined)
  try {
    return await connection.request("tasks/result", { taskId }, { signal: context.signal })
  } finally {
    over.abort()
    await watching
  }
}

async function watch(connection: Connection, following: Following, signal: AbortSignal): Promise<void> {
  for (;;) {
    const task = await readTask(connection, following, signal)
    await pause(toPollMs(task), undefined, { signal })
  }
}

async function followSecond(connection: Connection, following: Following): Promise<JsonObject> {
  const { link, taskId, context, answered } = following
  const { signal } = context
  for (;;) {
    const task = await readTask(connection, following, signal)
    if (task.status === "completed") return task.result ?? {}
    if (task.status === "failed") {
      const { error, statusMessage } = task
      throw new ServerRefusal(error?.code ?? INTERNAL_ERROR, error?.message || statusMessage || "the task failed")
    }
    if (task.status === "cancelled") throw new ServerRefusal(INTERNAL_ERROR, "the server cancelled the task")
    const open = Object.entries(task.inputRequests).filter(([key]) => !answered.has(key))
    if (task.status === "input_required" && open.length > 0) {
      const inputResponses = await answerRequests(link.name, Object.fromEntries(open), context)
      await context.act(() => connection.request("tasks/update", { taskId, inputResponses }, { signal }))
      for (const [key] of open) answered.add(key)
    }
    await pause(toPollMs(task), undefined, { signal })
  }
}

async function readTask(connection: Connection, following: Following, signal: AbortSignal): Promise<ServerTask> {
  const { link, taskId, context } = following
  const parsed = serverTask().safeParse(await connection.request("tasks/get", { taskId }, { signal }))
  if (!parsed.success)
    throw new ServerRefusal(INTERNAL_ERROR, `its task does not have the form that the protocol defines`)
  if (parsed.data.statusMessage) context.progress({ line: link.scrub(parsed.data.statusMessage) })
  return parsed.data
}

function toPollMs({ pollIntervalMs, pollInterval }: ServerTask): number {
  const wanted = pollIntervalMs ?? pollInterval ?? DEFAULT_POLL_MS
  return Math.min(Math.max(wanted, SHORTEST_POLL_MS), LONGEST_POLL_MS)
}

/**
 * Asks the server once to cancel its task. A server that is away, or refuses, ends the task by its own rules. True if the
 * cancel was accepted, or the task had surely ended before. `waitMs`: how long to wait for a server that is away.
 */
export async function cancelTask(link: ServerLink, taskId: string, waitMs = 0): Promise<boolean> {
  const signal = AbortSignal.timeout(CANCEL_WAIT_MS)
  try {
    const connection = await link.connection(signal, waitMs)
    try {
      await connection.request("tasks/cancel", { taskId }, { signal })
      return true
    } catch (error) {
      if (!(error instanceof ServerRefusal)) throw error
      const { status } = serverTask().parse(await connection.request("tasks/get", { taskId }, { signal }))
      return status !== "working" && status !== "input_required"
    }
  } catch {
    return false
  }
}
