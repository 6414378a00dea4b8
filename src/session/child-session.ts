import { MeanwhileError, toErrorMessage } from "../base/error.ts"
import type { AskingRun } from "../plugin/context.ts"
import type { ChildSession, ChildTurn } from "../plugin/sessions-port.ts"
import { addTokens } from "../plugin/token-usage.ts"
import { LIVE_STATUSES } from "../task/lifecycle.ts"
import type { TaskSummary } from "../task/record.ts"
import { type FollowedSpending, followSpending } from "./child-spending.ts"
import { findLastTurn, readAnswer, requireCompleted, waitForTask } from "./child-turn.ts"
import { readPendingNotices } from "./pending-notices.ts"
import type { AgentScope } from "./scope.ts"
import type { Session } from "./session.ts"

/** How often a child is woken by the ends of what it started. */
const MOST_WAKES = 5
const MOST_TASKS = 100
const WAKE_MESSAGE = "What you started in the background has ended, as told above. Finish your work with it."

export interface ChildOptions {
  readonly session: Session
  /** Null for a child that no call asked for. */
  readonly run: AskingRun | null
  /** It was there before: a crash came in between. */
  readonly isFound: boolean
}

/** A subagent as the call that asked for it sees it. */
export function createChildSession(scope: AgentScope, options: ChildOptions): ChildSession {
  const { session, run } = options
  return {
    id: session.id,
    async send(message, { signal = NEVER.signal, onSpent } = {}) {
      const spending = await followSpending(scope, options, onSpent)
      const follower = followSignal(signal, run)
      const signals: Signals = { left: signal, stopped: follower.signal }
      try {
        const found = options.isFound ? await pickUpPaid(scope, session, signals, spending) : null
        return await finish(scope, options, found ?? (await sendTo(options, message, signals)), signals)
      } finally {
        follower.release()
        spending.release()
      }
    },
    async close() {
      if (run?.isLeft) return
      try {
        await session.close()
      } catch (error) {
        // What it came to is worth more than how it was put away.
        scope.log.warn("a subagent could not be closed", { session: session.id, error: toErrorMessage(error) })
      }
    },
  }
}

const NEVER = new AbortController()

interface Signals {
  /** The run ends here, for whatever reason: nobody waits any longer. */
  readonly left: AbortSignal
  /** The run was stopped, and the child is to be, too. */
  readonly stopped: AbortSignal
}

/** Aborts with the signal, unless the run is only left: then the child is left as it is, too, and goes on elsewhere. */
function followSignal(signal: AbortSignal, run: AskingRun | null) {
  const stopping = new AbortController()
  const stop = (): void => {
    if (!run?.isLeft) stopping.abort(signal.reason)
  }
  if (signal.aborted) stop()
  signal.addEventListener("abort", stop)
  return { signal: stopping.signal, release: () => signal.removeEventListener("abort", stop) }
}

async function sendTo({ session, run }: ChildOptions, message: string, { stopped }: Signals): Promise<ChildTurn> {
  const sent = await session.send(message, {
    parentTask: run?.taskId ?? null,
    ...(run?.traceId && { traceId: run.traceId }),
    signal: stopped,
  })
  const { turn, outcome, text, accounting } = sent
  if (outcome === "stopped") throw new MeanwhileError("closed", `The subagent ${session.name} was stopped.`)
  return { turn, text, usage: accounting.usage }
}

/** Whatever came of it was paid for. */
async function pickUpPaid(
  scope: AgentScope,
  session: Session,
  signals: Signals,
  spending: FollowedSpending,
): Promise<ChildTurn | null> {
  try {
    return await pickUp(scope, session, signals)
  } finally {
    await spending.catchUp()
  }
}

/** The turn of before the crash goes on by itself, or has ended. Null: it had not begun. */
async function pickUp(scope: AgentScope, session: Session, { left, stopped }: Signals): Promise<ChildTurn | null> {
  const { id, workspace, name } = session
  const turn = await findLastTurn(scope, id, workspace)
  if (!turn) return null
  const stop = (): void => {
    const request = { by: "person", reason: toErrorMessage(stopped.reason) } as const
    scope.runner.cancel(turn, request, workspace).catch((error: unknown) => {
      scope.log.warn("a subagent's turn could not be stopped", { turn, error: toErrorMessage(error) })
    })
  }
  if (stopped.aborted) stop()
  stopped.addEventListener("abort", stop)
  try {
    requireCompleted(await waitForTask(scope, turn, workspace, left), name)
    const { text, usage } = await readAnswer(scope, id)
    return { turn, text, usage }
  } finally {
    stopped.removeEventListener("abort", stop)
  }
}

/** An agent that ended its turn while what it started still works has not finished: it is woken by the ends. */
async function finish(
  scope: AgentScope,
  options: ChildOptions,
  first: ChildTurn,
  signals: Signals,
): Promise<ChildTurn> {
  const { id, workspace } = options.session
  let last = first
  for (let wakes = 0; wakes < MOST_WAKES; wakes++) {
    const tasks = await findLiveTasks(scope, options.session)
    await Promise.all(tasks.map((task) => waitForTask(scope, task.id, workspace, signals.left)))
    const conversation = scope.open.get(id)
    if (!conversation || (await readPendingNotices(scope, conversation)).length === 0) return last
    const next = await sendTo(options, WAKE_MESSAGE, signals)
    last = { ...next, usage: addTokens(last.usage, next.usage) }
  }
  return last
}

/** Those whose end it wants to know. What lives for ever has none. */
async function findLiveTasks({ store }: AgentScope, { id, workspace }: Session): Promise<readonly TaskSummary[]> {
  const filter = { workspace, session: id, statuses: LIVE_STATUSES, kinds: ["tool", "agent", "workflow"] } as const
  const { items } = await store.tasks(filter, { limit: MOST_TASKS })
  return items.filter(({ lifetime, notify }) => lifetime !== "forever" && notify === "wake")
}
