import type { JsonObject } from "../../base/json.ts"
import type { ToolContext } from "../../plugin/context.ts"
import { elicit } from "./elicitation.ts"

/** A call in flight, as the questions of its server find it. */
export interface OpenCall extends Disposable {
  readonly context: ToolContext
  /** The server's task it goes on as. */
  taskId: string | null
}

/** The calls that one server is working on. */
export interface CallDesk {
  open(context: ToolContext): OpenCall
  /** Puts a question of the server to whose it is. One that belongs to no call, or to nobody knows whose, is declined. */
  elicit(server: string, params: JsonObject, taskId: string | null, signal: AbortSignal): Promise<JsonObject>
}

export function createCallDesk(): CallDesk {
  const calls = new Set<OpenCall>()
  return {
    open(context) {
      const call: OpenCall = { context, taskId: null, [Symbol.dispose]: () => void calls.delete(call) }
      calls.add(call)
      return call
    },
    async elicit(server, params, taskId, signal) {
      const context = findCall([...calls], taskId)?.context
      if (!context) return { action: "decline" }
      return elicit(server, params, { person: context.person, signal: AbortSignal.any([signal, context.signal]) })
    },
  }
}

/**
 * Whose question it is. Without a task's id it is the newest call, if all are of one session: a question is never put
 * to somebody else's person.
 */
function findCall(open: readonly OpenCall[], taskId: string | null): OpenCall | undefined {
  if (taskId !== null) return open.find((call) => call.taskId === taskId)
  const owners = new Set(open.map(({ context }) => `${context.workspace}/${context.session ?? context.taskId}`))
  return owners.size === 1 ? open.at(-1) : undefined
}
