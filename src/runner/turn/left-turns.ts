import type { TaskId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskSummary } from "../../task/record.ts"
import { cancelById, AGENT_ENDED, findTurnsBelow, RESTING } from "../stop/cancel.ts"
import type { CancelScope } from "../run/scope.ts"
import { readPages } from "../run/task-pages.ts"
import { TURN_PLUGIN } from "../tool/tool-source.ts"
import { findAsker } from "./turn-run.ts"

/**
 * Stops the turns of ended agents that nobody stopped: the worker that had to was gone. Of the running turns each worker
 * looks only at its own: a store may have thousands.
 */
export async function stopLeftTurns(scope: CancelScope): Promise<void> {
  for (const { taskId, call, origin } of scope.active.values()) {
    if (call.plugin === TURN_PLUGIN && origin.parentTask !== null)
      await stopIfAgentEnded(scope, await scope.store.task(taskId))
  }
  for await (const page of readPages(scope, { kinds: ["turn"], statuses: RESTING })) {
    await Promise.all(page.map((turn) => stopIfAgentEnded(scope, turn)))
  }
}

async function stopIfAgentEnded(scope: CancelScope, turn: TaskSummary | undefined): Promise<void> {
  const agent = turn && (await findAsker(scope, turn))
  if (agent && isTerminal(agent.status)) await cancelById(scope, turn.id, AGENT_ENDED)
}

/** Stops the turns of one agent that has ended. */
export async function stopTurnsBelow(
  scope: CancelScope,
  agent: Pick<TaskSummary, "id" | "status" | "fence">,
): Promise<void> {
  for (const { id } of await findTurnsBelow(scope, agent)) await cancelById(scope, id, AGENT_ENDED)
}

/** Stops a queued turn whose agent has ended or is being stopped. True if the turn was stopped. */
export async function stopIfLeft(scope: CancelScope, id: TaskId): Promise<boolean> {
  const turn = await scope.store.task(id)
  const agent = turn && (await findAsker(scope, turn))
  const isLeft = agent !== undefined && (agent.status === "stopping" || isTerminal(agent.status))
  if (isLeft) await cancelById(scope, id, AGENT_ENDED)
  return isLeft
}
