import type { ToolContext } from "../../plugin/context.ts"

/** A call in flight, as the questions of its server find it. */
export interface OpenCall extends Disposable {
  readonly context: ToolContext
  /** The server's task it goes on as. */
  taskId: string | null
}

/** The calls that one server is working on. */
export interface CallDesk {
  open(context: ToolContext): OpenCall
  /**
   * Whose question it is. Without a task's id it is the newest call, if all are of one session: a question is never put
   * to somebody else's person.
   */
  find(taskId: string | null): OpenCall | null
}

export function createCallDesk(): CallDesk {
  const calls = new Set<OpenCall>()
  return {
    open(context) {
      const call: OpenCall = { context, taskId: null, [Symbol.dispose]: () => void calls.delete(call) }
      calls.add(call)
      return call
    },
    find(taskId) {
      const open = [...calls]
      if (taskId !== null) return open.find((call) => call.taskId === taskId) ?? null
      const owners = new Set(open.map(({ context }) => `${context.workspace}/${context.session ?? context.taskId}`))
      return owners.size === 1 ? (open.at(-1) ?? null) : null
    },
  }
}
