import { setImmediate } from "node:timers/promises"
import { lookUntil } from "../base/look-until.ts"
import { throughPages } from "../base/pages.ts"
import { whenAborted } from "../base/when-aborted.ts"
import type { Wake } from "../task/bus.ts"
import type { TaskId } from "../task/id.ts"
import { LIVE_STATUSES } from "../task/lifecycle.ts"
import { WORK_KINDS } from "../task/record.ts"
import { type Conversation, NEVER } from "./conversation/conversation.ts"
import type { Using } from "./conversation/scope.ts"
import { parseSessionData } from "./log/session-data.ts"
import { findLiveTurn } from "./log/stored-turn.ts"

type SettledScope = Using<"bus" | "clock" | "config" | "open" | "ports" | "store">

const TASKS_AT_ONCE = 200

/**
 * Resolves when nothing of the conversation goes on by itself, here or elsewhere, and everything was told that can be told
 * without a person. What only a person's answer brings on, and tasks that live forever, are not waited for. An abort, the end
 * of the conversation here and that of the runtime end the wait.
 */
export async function settled(scope: SettledScope, conversation: Conversation, signal = NEVER): Promise<void> {
  const given = AbortSignal.any([signal, scope.open.closing])
  const left = whenAborted(given)
  const isOver = (): boolean => given.aborted || scope.open.get(conversation.log.id) !== conversation
  while (!isOver()) {
    await Promise.race([left, quiet(conversation)])
    await waitUntilNothingGoesOn(scope, conversation, given)
    await conversation.reporter?.reported(given)
    // Others go on in between, whatever there is to wait for next.
    await setImmediate()
    // A report may have started more, and somebody may have spoken meanwhile.
    if (isOver() || (!isOccupied(conversation) && (await findGoing(scope, conversation)).length === 0)) return
  }
}

function isOccupied({ queue, messages }: Conversation): boolean {
  return queue.length > 0 || messages.count > 0
}

/** Resolves when no work is left in the conversation's queue, and no message waits behind a turn elsewhere. */
async function quiet({ queue, messages }: Conversation): Promise<void> {
  await Promise.all([...messages.held].map(({ over }) => over))
  await queue.done
}

/** The turn that the session has elsewhere, and its live work. The tasks of its agents keep their agents' tasks alive. */
async function findGoing(
  { store, ports }: Using<"ports" | "store">,
  { log: { id: session, workspace, isKept } }: Conversation,
): Promise<readonly TaskId[]> {
  const record = isKept ? await store.session(session) : undefined
  const turn = record && (await findLiveTurn(store, parseSessionData(record.data)))
  const going: TaskId[] = turn && turn.status !== "waiting" ? [turn.id] : []
  const filter = { workspace, session, statuses: LIVE_STATUSES, kinds: WORK_KINDS }
  for await (const tasks of throughPages((from) => store.tasks(filter, { limit: TASKS_AT_ONCE, ...from }))) {
    for (const { id, lifetime } of tasks) if (lifetime !== "forever") going.push(id)
  }
  if (going.length === 0) return going
  const held = await ports.heldUp(workspace)
  return going.filter((id) => !held.has(id))
}

/** Resolves when nothing of the session goes on. Keeps the process alive: somebody waits. */
async function waitUntilNothingGoesOn(
  scope: Using<"bus" | "clock" | "config" | "ports" | "store">,
  conversation: Conversation,
  signal: AbortSignal,
): Promise<void> {
  const { bus, clock, config } = scope
  /** Null during a look: what changes meanwhile may be anything. */
  let watched: ReadonlySet<TaskId> | null = null

  function concerns(heard: Wake): boolean {
    if (heard.about === "task") return heard.isLive !== true && watched?.has(heard.taskId) !== false
    return heard.about === "unknown" || (heard.about === "session" && heard.sessionId === conversation.log.id)
  }

  await lookUntil({
    clock,
    pollMs: config.background.completionScanIntervalMs,
    signals: [signal],
    keepsProcessAlive: true,
    subscribe: (wake) => bus.subscribe((heard) => (concerns(heard) ? wake() : undefined)),
    async look() {
      watched = null
      const going = await findGoing(scope, conversation)
      watched = new Set(going)
      return going.length === 0 || undefined
    },
  })
}
