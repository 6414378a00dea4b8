import type { WaitAnswer, WaitRequest } from "../../../plugin/wait-request.ts"
import { LIVE_STATUSES, TERMINAL_STATUSES } from "../../../task/lifecycle.ts"
import type { BackgroundCall } from "./background-call.ts"
import { listWork, requireOwn } from "./own-tasks.ts"

/** The subject of a wait and its limit. */
export type OwnWait = Omit<WaitRequest, "signal" | "consume">

const NOTHING_TO_WAIT_FOR: WaitAnswer = { reason: "met", tasks: [], group: null, match: null }

/**
 * Waits without a model call. What the person says meanwhile goes first: it ends the wait, and stops nothing. Claims
 * nothing: the answer that shows an ended task uses its result.
 */
export async function waitForTasks(call: BackgroundCall, request: OwnWait): Promise<WaitAnswer> {
  const { tasks, sessions, signal } = call.context
  const wanted = request.tasks ?? (request.group === undefined ? await findUnused(call) : undefined)
  if (wanted?.length === 0 && request.group === undefined) return NOTHING_TO_WAIT_FOR
  const ids = wanted && (await Promise.all(wanted.map(async (id) => (await requireOwn(call, id)).task.id)))
  return tasks.waitFor({
    ...request,
    ...(ids && { tasks: ids }),
    signal: AbortSignal.any([signal, sessions.newMessage]),
  })
}

/**
 * Live tasks, and ended ones with an unused result: a task that ends a moment before the wait counts. What a person is
 * asked is no work to wait for: it would end every wait at once, for as long as they take to answer.
 */
async function findUnused(call: BackgroundCall): Promise<readonly string[]> {
  const [live, ended] = await Promise.all([
    listWork(call, { statuses: LIVE_STATUSES }),
    listWork(call, { statuses: TERMINAL_STATUSES, isConsumed: false }),
  ])
  const wanted = [...live, ...ended.filter(({ notify }) => notify !== "silent")]
  return [...new Set(wanted.map(({ id }) => id))]
}
