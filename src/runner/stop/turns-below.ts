import type { TaskSummary } from "../../task/record.ts"
import type { HasStore } from "../run/scope.ts"
import { readAll } from "../run/task-pages.ts"

/** Why a turn is stopped whose agent has ended. */
export const AGENT_ENDED = { by: "lifetime", reason: "the agent whose turn it is has ended" } as const

/** Nobody has it now. */
export const RESTING = ["queued", "waiting"] as const
/** What of a turn can be stopped. */
const STOPPABLE = [...RESTING, "running"] as const

/** The live turns of an agent that nobody runs: they end with it. Whoever runs an agent ends its turns itself. */
export async function findTurnsBelow(
  scope: HasStore,
  { id, status, fence }: Pick<TaskSummary, "id" | "status" | "fence">,
): Promise<readonly TaskSummary[]> {
  const hasBegun = fence > 0
  if (status === "running" || !hasBegun) return []
  return readAll(scope, { parentTask: id, kinds: ["turn"], statuses: STOPPABLE })
}
