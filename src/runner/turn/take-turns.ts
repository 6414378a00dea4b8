import { isMeanwhileError } from "../../base/error.ts"
import type { Offer } from "../../task/dispatcher.ts"
import type { SessionId } from "../../task/id.ts"
import type { TaskSummary } from "../../task/record.ts"
import { track } from "../run/enter.ts"
import { beginClaimed } from "../execute/begin-claimed.ts"
import type { ExecuteScope, HasActive, HasQueue } from "../run/scope.ts"
import { TURN_PLUGIN } from "../tool/tool-source.ts"

const TURNS_AT_ONCE = 50

/**
 * Goes on with turns that wait in the queue: those whose worker is gone, those that a shutdown handed back, and those
 * whose question was answered. Turns take no slot. Even so, a runner that runs no tasks leaves others' turns alone.
 */
export async function takeTurns(scope: ExecuteScope): Promise<void> {
  if (!scope.queue.mayHaveQueuedTurns || !scope.queue.takesTurns || scope.active.isClosing) return
  scope.queue.mayHaveQueuedTurns = false
  const offers = await scope.engine.dispatcher.take({
    worker: scope.worker.id,
    limit: TURNS_AT_ONCE,
    kinds: ["turn"],
    plugins: [TURN_PLUGIN],
    tools: scope.tools.names(),
    fullSessions: [],
    fullModels: [],
    fullWorkspaces: [],
    ...scope.queue.ownTurns?.toRequest(),
  })
  if (offers.length === TURNS_AT_ONCE) scope.queue.mayHaveQueuedTurns = true
  for (const offer of offers) await claim(scope, offer)
}

/** True if queued turns of the session are taken here. */
export function takesTurnsOf({ active, queue }: HasActive & HasQueue, session: SessionId): boolean {
  return queue.takesTurns && !active.isClosing && queue.ownTurns?.hasSession(session) !== false
}

/** Called when a task was put into the queue. A turn need not wait for the next look into it. */
export function wakeTurns(scope: HasQueue, { kind }: Pick<TaskSummary, "kind">): void {
  if (kind !== "turn") return
  scope.queue.mayHaveQueuedTurns = true
  scope.queue.nudge()
}

async function claim(scope: ExecuteScope, { taskId, run }: Offer): Promise<void> {
  try {
    await track(scope, async () => {
      const event = { type: "task.started", worker: scope.worker.id } as const
      const [task] = await scope.store.commit([{ op: "task.apply", run: { taskId, run }, event }])
      beginClaimed(scope, task)
    })
  } catch (error) {
    if (!isMeanwhileError(error, "wrong_state") && !isMeanwhileError(error, "not_found")) throw error
  }
}
