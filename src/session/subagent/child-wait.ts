import { ERROR_CODES, MeanwhileError, toErrorMessage } from "../../base/error.ts"
import { lookUntil } from "../../base/look-until.ts"
import type { AskingRun } from "../../plugin/context.ts"
import { findLiveTasks, noteUnreadMessages } from "./news.ts"
import type { TaskId, WorkspaceId } from "../../task/id.ts"
import { isTerminal } from "../../task/lifecycle.ts"
import type { TaskRecord, TaskSummary } from "../../task/record.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { mayBeNews } from "../results/news.ts"
import { orWarn } from "../conversation/or-warn.ts"
import type { Session } from "../conversation/session.ts"
import type { Using } from "../conversation/scope.ts"

const LOOK_AGAIN_MS = 60_000

export interface TaskWait {
  readonly run: AskingRun | null
  readonly signal: AbortSignal
  /** Called if there is something to wait for. */
  readonly onWait: () => void
}

/**
 * Waits until the agent's tasks have ended, or somebody says something to it. Meanwhile the agent's run holds no slot, and
 * no time counts against its limit.
 */
export async function waitForTasks(
  scope: Using<"bus" | "clock" | "config" | "runner" | "store">,
  conversation: Conversation,
  wait: TaskWait,
): Promise<void> {
  const tasks = await findLiveTasks(scope, conversation)
  if (tasks.length === 0) return
  const { run, signal, onWait } = wait
  onWait()
  const goOn = run ? scope.runner.rest(run.taskId) : undefined
  const isOver = new AbortController()
  const either = AbortSignal.any([signal, isOver.signal])
  const { workspace } = conversation.log
  try {
    const ends = Promise.all(tasks.map(({ id }) => waitForTask(scope, id, workspace, either)))
    // The promise that comes second is aborted and rejects.
    ends.catch(() => {})
    await Promise.race([ends, waitUntilTold(scope, conversation, either)])
    signal.throwIfAborted()
  } finally {
    isOver.abort()
    goOn?.()
  }
}

/** Resolves when somebody, in whichever process, has said something to the agent, or the signal aborts. */
async function waitUntilTold(
  scope: Using<"bus" | "clock" | "config" | "store">,
  conversation: Conversation,
  signal: AbortSignal,
): Promise<void> {
  const { bus, clock, config } = scope
  await lookUntil({
    clock,
    pollMs: config.background.completionScanIntervalMs,
    signals: [signal],
    subscribe: (wake) =>
      bus.subscribe((about) => {
        if (mayBeNews(about, conversation.log.id)) wake()
      }),
    look: async () => (await noteUnreadMessages(scope, conversation)) || undefined,
  })
}

/** Stops the tasks of an agent whose budget is used up: nobody would read their results. */
export async function stopTasks(
  scope: Using<"log" | "runner" | "store">,
  conversation: Conversation,
  reason: string,
): Promise<void> {
  const tasks = await findLiveTasks(scope, conversation)
  const request = { by: "budget", reason: `the agent that started it ends: ${reason}` } as const
  const stop = ({ id }: TaskSummary) => scope.runner.cancel(id, request, conversation.log.workspace)
  await Promise.all(tasks.map((task) => orWarn(scope, "a task could not be stopped", {}, () => stop(task))))
}

/** Waits for the end of a turn that was begun before. Stops that turn when the run that asked for it is stopped. */
export async function waitForTurn(
  scope: Using<"log" | "runner">,
  id: TaskId,
  { workspace, name }: Pick<Session, "workspace" | "name">,
  { left, stopped }: { readonly left: AbortSignal; readonly stopped: AbortSignal },
): Promise<TaskRecord> {
  const stop = (): void => {
    const request = { by: "parent", reason: toErrorMessage(stopped.reason) } as const
    const cancel = () => scope.runner.cancel(id, request, workspace)
    void orWarn(scope, "a subagent's turn could not be stopped", { turn: id }, cancel)
  }
  if (stopped.aborted) stop()
  stopped.addEventListener("abort", stop)
  try {
    const ended = await waitForTask(scope, id, workspace, left)
    requireCompleted(ended, name)
    return ended
  } finally {
    stopped.removeEventListener("abort", stop)
  }
}

/** Waits for a task as long as it takes, or until the signal aborts. */
async function waitForTask(
  { runner }: Using<"runner">,
  id: TaskId,
  workspace: WorkspaceId,
  signal: AbortSignal,
): Promise<TaskRecord> {
  for (;;) {
    const { task } = await runner.result(id, { waitMs: LOOK_AGAIN_MS, signal }, workspace)
    if (isTerminal(task.status)) return task
    signal.throwIfAborted()
  }
}

/** Throws unless the turn completed: with its failure, or with the reason why it was stopped. */
function requireCompleted(turn: TaskRecord, name: string): void {
  switch (turn.status) {
    case "completed":
      return
    case "failed":
    case "interrupted":
      throw new MeanwhileError(
        ERROR_CODES.find((known) => known === turn.failure.code) ?? "wrong_state",
        turn.failure.message,
      )
    default: {
      const why = "stop" in turn ? `: ${turn.stop.reason}` : ""
      throw new MeanwhileError("closed", `The subagent ${name} was stopped${why}.`)
    }
  }
}
