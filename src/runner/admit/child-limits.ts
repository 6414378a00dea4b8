import { MeanwhileError } from "../../base/error.ts"
import { createOneAtATime } from "../../base/one-at-a-time.ts"
import type { TaskId } from "../../task/id.ts"
import { LIVE_STATUSES } from "../../task/lifecycle.ts"
import type { HasActive, HasConfig, HasStore } from "../run/scope.ts"

/** Admits the agents below a parent one by one, so that ten asked for at once are counted like ten in a row. */
export interface FamilyLock {
  /** Waits for the caller's turn. Returns the function that ends the turn. */
  take(parent: TaskId): Promise<() => void>
}

export function createFamilyLock(): FamilyLock {
  const oneAtATime = createOneAtATime()
  return {
    take(parent) {
      const entered = Promise.withResolvers<() => void>()
      // The next agent waits for the release.
      void oneAtATime(parent, () => new Promise<void>((release) => entered.resolve(release)))
      return entered.promise
    },
  }
}

/** Throws where one more agent would exceed the limits of depth and number. */
export async function requireRoomForAgent(
  scope: HasStore & HasConfig & HasActive,
  parentTask: TaskId,
  depth: number,
): Promise<void> {
  const { maxAgentDepth, maxAgentFanOut } = scope.config
  if (depth > maxAgentDepth) {
    throw new MeanwhileError(
      "limit_exceeded",
      `An agent here would be ${depth} levels deep; at most ${maxAgentDepth} are allowed. Do the work in this agent.`,
      { limit: "maxAgentDepth", depth },
    )
  }
  const siblings = await countAgents(scope, parentTask, maxAgentFanOut)
  if (siblings >= maxAgentFanOut) {
    throw new MeanwhileError(
      "limit_exceeded",
      `This task has ${siblings} live agents; at most ${maxAgentFanOut} are allowed. Wait for one of them to end.`,
      { limit: "maxAgentFanOut", siblings },
    )
  }
}

/** Counts ids: an agent that is being promoted may be found both here and in the store, or only here. */
async function countAgents(scope: HasStore & HasActive, parentTask: TaskId, enough: number): Promise<number> {
  const here = [...scope.active.values()].filter(
    ({ origin, call, standing }) =>
      origin.parentTask === parentTask &&
      call.tool.kind === "agent" &&
      ["foreground", "promotion"].includes(standing.in),
  )
  const filter = { parentTask, kinds: ["agent"], statuses: LIVE_STATUSES } as const
  const { items } = await scope.store.tasks(filter, { limit: enough })
  return new Set([...here.map(({ taskId }) => taskId), ...items.map(({ id }) => id)]).size
}

/** Refuses a start that follows from a report at its last hop: the agent then tells the person instead. */
export function requireHopsLeft(
  { maxHops }: { readonly maxHops: number },
  hops: number,
  tool: { readonly name: string },
): void {
  if (hops === 0 || hops < maxHops) return
  const message = `${tool.name} can start nothing in the background here: this is report ${hops} of ${maxHops} that followed from one another. Tell the person what you found, and let them ask for more.`
  throw new MeanwhileError("limit_exceeded", message, { limit: "maxHops", hops })
}
