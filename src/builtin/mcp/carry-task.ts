import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client"
import { z } from "zod"

/** The key under which a result carries the id of a server's task. It belongs to Meanwhile: servers have no use for it. */
const CARRIED_TASK = "meanwhile/server-task"

/** The code of the answer made up for a request whose stream ended without one. */
export const STREAM_ENDED = -32_098

const taskResult = z.looseObject({ resultType: z.literal("task"), taskId: z.string().min(1) })
const carried = z.looseObject({ _meta: z.looseObject({ [CARRIED_TASK]: z.string() }) })

/**
 * The client refuses a result whose type it does not know, such as a task that the server created. It accepts a complete
 * result that carries the task's id. A server that set the key itself would only name a task of its own.
 */
export function carryTask(message: JSONRPCMessage): JSONRPCMessage {
  if (!("result" in message)) return message
  const task = taskResult.safeParse(message.result)
  if (!task.success) return message
  const result = { resultType: "complete", content: [], _meta: { [CARRIED_TASK]: task.data.taskId } }
  return { ...message, result }
}

export function carriedTaskOf(result: unknown): string | null {
  const parsed = carried.safeParse(result)
  return parsed.success ? (parsed.data._meta[CARRIED_TASK] ?? null) : null
}

/** Carries tasks over HTTP. A request whose stream breaks off gets an error, since it would otherwise wait for ever. */
export function carryTasks(inner: Transport): Transport {
  const pending = new Set<string | number>()
  const outer: Transport = {
    start: () => inner.start(),
    close: () => inner.close(),
    send: (message, options) => {
      if (!("method" in message && "id" in message) || options?.onRequestStreamEnd) return inner.send(message, options)
      const { id } = message
      pending.add(id)
      const onRequestStreamEnd = (): void => {
        if (!pending.delete(id)) return
        const error = { code: STREAM_ENDED, message: "the connection ended before the answer" }
        outer.onmessage?.({ jsonrpc: "2.0", id, error })
      }
      return inner.send(message, { ...options, onRequestStreamEnd })
    },
    get sessionId() {
      return inner.sessionId
    },
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
    ...(inner.hasPerRequestStream !== undefined && { hasPerRequestStream: inner.hasPerRequestStream }),
  }
  const heard: Pick<Transport, "onclose" | "onerror" | "onmessage"> = {
    onclose: () => outer.onclose?.(),
    onerror: (error) => outer.onerror?.(error),
    onmessage: (message, extra) => {
      if (!("method" in message) && message.id !== undefined) pending.delete(message.id)
      outer.onmessage?.(carryTask(message), extra)
    },
  }
  Object.assign(inner, heard)
  return outer
}
