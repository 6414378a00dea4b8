import { toErrorMessage } from "../../base/error.ts"
import { lookUntil } from "../../base/look-until.ts"
import type { AskingRun } from "../../plugin/context.ts"
import { findLiveTasks, hasBeenTold } from "./news.ts"
import { waitForTask } from "./child-turn.ts"
import type { Conversation } from "../conversation/conversation.ts"
import { mayBeNews } from "../results/news.ts"
import type { Using } from "../conversation/scope.ts"

export interface TaskWait {
  readonly run: AskingRun | null
  readonly signal: AbortSignal
  /** Told when there is something to wait for. */
  readonly onWait: () => void
}

/**
 * Waits until what the agent started has ended, or somebody says something to it. It holds no slot meanwhile, and no
 * time counts against its limit.
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
    // Whichever comes second is given up, and rejects.
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
    look: async () => (await hasBeenTold(scope, conversation)) || undefined,
  })
}

/** Stops the tasks of an agent whose budget is used up: nobody would read their results. */
export async function stopTasks(
  scope: Using<"log" | "runner" | "store">,
  conversation: Conversation,
  reason: string,
): Promise<void> {
  const tasks = await findLiveTasks(scope, conversation)
  const stops = tasks.map(({ id }) =>
    scope.runner.cancel(
      id,
      { by: "budget", reason: `the agent that started it ends: ${reason}` },
      conversation.log.workspace,
    ),
  )
  for (const stop of await Promise.allSettled(stops)) {
    if (stop.status === "rejected")
      scope.log.warn("a task could not be stopped", { error: toErrorMessage(stop.reason) })
  }
}
