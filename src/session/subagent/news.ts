import { isMeanwhileError, toErrorMessage } from "../../base/error.ts"
import type { AskingRun } from "../../plugin/context.ts"
import { LIVE_STATUSES } from "../../task/lifecycle.ts"
import type { SessionId } from "../../task/id.ts"
import { type TaskSummary, WORK_KINDS } from "../../task/record.ts"
import type { AgentTask } from "../conversation/agent-sessions.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { endedIn } from "../results/delivery.ts"
import { readDeliverable } from "../results/read-deliverable.ts"
import { readSaid, leaveMessage } from "../results/steering-messages.ts"
import type { AgentsPort } from "../../runner/run/run-ports.ts"
import type { Using } from "../conversation/scope.ts"

type NewsScope = Using<"children" | "clock" | "log" | "open" | "redactor" | "runner" | "store">

const MOST_TASKS = 1_000

export const ENDED_MESSAGE = "What you started in the background has ended, as told above. Finish your work with it."
export const LAST_ENDED_MESSAGE = `${ENDED_MESSAGE} You are not woken again: wait for whatever you still start.`
export const SAID_MESSAGE = "Take into account what was said to you, as told above, and finish your work."

/** The live tasks whose end the conversation waits for: those that wake it and do not live forever. */
export async function findLiveTasks(
  { store }: Using<"store">,
  { log: { id, workspace } }: Conversation,
): Promise<readonly TaskSummary[]> {
  const filter = { workspace, session: id, statuses: LIVE_STATUSES, kinds: WORK_KINDS } as const
  const { items } = await store.tasks(filter, { limit: MOST_TASKS })
  return items.filter(({ lifetime, notify }) => lifetime !== "forever" && notify === "wake")
}

export async function hasEnds(scope: Using<"store">, conversation: Conversation): Promise<boolean> {
  return conversation.hasTasks && endedIn(await readDeliverable(scope, conversation)).length > 0
}

/** True if there are messages that the agent has not read. */
export async function noteUnreadMessages(scope: Using<"store">, conversation: Conversation): Promise<boolean> {
  if ((await readSaid(scope, conversation.log)).length === 0) return false
  // The next turn begins with them.
  conversation.hasNews = true
  return true
}

/**
 * Begins another run if a message to the agent came too late for the last look of this run. If the process dies in between,
 * the message stays in the store, and the agent is told it when it is resumed.
 */
export async function goOnIfSaid(
  scope: Using<"log" | "open" | "runner" | "store">,
  conversation: Conversation,
  run: AskingRun,
): Promise<void> {
  await run.ended
  if (!run.isLeft) await goOnIfUnheard(scope, { id: run.taskId, workspace: run.workspace }, conversation.log.id)
}

/**
 * Called by the run that has ended and by the caller that left a message. Each looks after its own write, so at least one
 * of them finds what the other wrote. If both do, only one begins the run.
 */
async function goOnIfUnheard(
  scope: Using<"log" | "open" | "runner" | "store">,
  { id, workspace }: AgentTask,
  session: SessionId,
): Promise<void> {
  try {
    if (scope.open.closing.aborted || (await scope.store.task(id))?.status !== "completed") return
    if ((await readSaid(scope, { id: session, workspace })).length === 0) return
    await scope.runner.resume(id, SAID_MESSAGE, workspace)
  } catch (error) {
    if (isMeanwhileError(error, "wrong_state") || isMeanwhileError(error, "closed")) return
    scope.log.warn("a subagent could not go on with what was said to it", { task: id, error: toErrorMessage(error) })
  }
}

/** The runner's view of the conversations of agent tasks. */
export function createAgentsPort(scope: NewsScope): AgentsPort {
  return {
    sessionOf: (task) => scope.children.agents.find(task),
    async say(task, session, text, store) {
      await leaveMessage({ ...scope, store }, task.workspace, session, text)
      // The message is left, whoever left it: what follows from it is the agent's.
      await goOnIfUnheard(scope, task, session)
    },
  }
}
