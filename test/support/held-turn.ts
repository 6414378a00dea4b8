import type { Runner } from "../../src/runner/runner.ts"
import { createSessionId, DEFAULT_WORKSPACE, type SessionId, type TaskId } from "../../src/task/id.ts"

export interface HeldTurnOptions {
  readonly session?: SessionId
  readonly parentTask?: TaskId | null
}

/** A turn of a conversation that goes on until it is told to end. */
export async function beginHeldTurn(
  tasks: Pick<Runner, "beginTurn">,
  { session = createSessionId(), parentTask = null }: HeldTurnOptions = {},
) {
  const held = Promise.withResolvers<string>()
  const about = { workspace: DEFAULT_WORKSPACE, model: "a/b", title: "turn", traceId: null, operations: [] }
  const { taskId, ended } = await tasks.beginTurn({ ...about, session, parentTask }, (turn) => {
    turn.signal.addEventListener("abort", () => held.reject(new Error("The turn was stopped.")))
    return held.promise
  })
  held.promise.catch(() => {})
  return {
    id: taskId,
    session,
    /** Ends it, and waits until its end is written. */
    async end() {
      held.resolve("done")
      return ended
    },
  }
}
