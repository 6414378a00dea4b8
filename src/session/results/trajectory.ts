import { isMeanwhileError } from "../../base/error.ts"
import type { BackgroundTaskResult, Trajectory } from "../../plugin/background-result.ts"
import type { TaskId, WorkspaceId } from "../../task/id.ts"
import type { TaskRecord } from "../../task/record.ts"
import { type Conversation, inTurn } from "../conversation/conversation.ts"
import { restoredOf } from "../log/session-data.ts"
import type { Using } from "../conversation/scope.ts"
import { readUnused } from "./read-deliverable.ts"
import { toShortText } from "./result-text.ts"

/** The results that a session has not used: those of its notices, and those that a restored session brought along. */
export function createTrajectory(scope: Using<"runner" | "store">, conversation: Conversation): Trajectory {
  return {
    unconsumed: () => readTrajectory(scope, conversation.log),
    async markConsumed(ids) {
      const { workspace } = conversation.log
      const own = new Set<string>((await readUnused(scope.store, conversation.log)).map(({ taskId }) => taskId))
      const restored = await forgetRestored(conversation, ids)
      const used = await Promise.all(ids.filter((id) => own.has(id)).map((id) => acknowledge(scope, id, workspace)))
      return restored + used.reduce((sum, count) => sum + count, 0)
    },
    clearConsumed: () => scope.runner.stripConsumed(conversation.log.id),
  }
}

type UnusedOf = Pick<Conversation["log"], "id" | "workspace" | "data">

/** By task: restored results first, then the others, oldest end first. */
export async function readTrajectory(
  { store }: Using<"store">,
  log: UnusedOf,
): Promise<ReadonlyMap<TaskId, BackgroundTaskResult>> {
  const results = new Map<TaskId, BackgroundTaskResult>()
  for (const one of restoredOf(log.data)) results.set(one.taskId, one)
  const ended = (await readUnused(store, log)).filter(({ kind }) => kind === "ended")
  const tasks = await Promise.all(ended.map(({ taskId, run }) => store.run(taskId, run)))
  for (const task of tasks) if (task) results.set(task.id, toBackgroundResult(task))
  return results
}

function toBackgroundResult(task: TaskRecord): BackgroundTaskResult {
  const patch = "patch" in task ? task.patch : null
  const isCompleted = task.status === "completed"
  const text = toShortText(task)
  const why = isCompleted ? text : [task.status.replace("_", " "), text].filter((part) => part !== "").join(": ")
  return {
    taskId: task.id,
    groupId: task.group,
    status: isCompleted ? "completed" : "failed",
    summary: why === "" ? null : why,
    payload: patch?.payload ?? null,
    facts: patch?.facts ?? {},
    artifacts: patch?.artifacts ?? [],
    consumed: false,
    completedAt: "endedAt" in task ? task.endedAt : task.createdAt,
  }
}

async function acknowledge({ runner }: Using<"runner">, id: string, workspace: WorkspaceId): Promise<number> {
  try {
    return await runner.acknowledge([id], workspace)
  } catch (error) {
    if (isMeanwhileError(error, "not_found")) return 0
    throw error
  }
}

async function forgetRestored(conversation: Conversation, ids: readonly string[]): Promise<number> {
  const { log } = conversation
  const known = Object.entries(log.data.backgroundResults ?? {})
  const kept = known.filter(([taskId]) => !ids.includes(taskId as TaskId))
  if (kept.length === known.length) return 0
  const data = { backgroundResults: Object.fromEntries(kept) }
  if (conversation.current) log.amend(data)
  else await inTurn(conversation, () => log.write({ entries: [], data }))
  return known.length - kept.length
}
