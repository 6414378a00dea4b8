import type { JsonObject } from "../../base/json.ts"
import type { ToolContext } from "../../plugin/context.ts"
import { elicit } from "./elicitation.ts"

/** A call in flight, which questions of its server can belong to. */
export interface OpenCall extends Disposable {
  readonly context: ToolContext
  /** The server's task as which the call goes on; null while there is none. */
  taskId: string | null
}

/** The calls that one server is working on. */
export interface CallDesk {
  open(context: ToolContext): OpenCall
  /** Puts a question of the server to the person of its call. Declines it if its call is not known. */
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
 * The call that a question belongs to. Without a task's id this is the newest call, if all calls are of one session: a
 * question is never put to somebody else's person.
 */
function findCall(open: readonly OpenCall[], taskId: string | null): OpenCall | undefined {
  if (taskId !== null) return open.find((call) => call.taskId === taskId)
  const owners = new Set(open.map(({ context }) => `${context.workspace}/${context.session ?? context.taskId}`))
  return owners.size === 1 ? open.at(-1) : undefined
}
