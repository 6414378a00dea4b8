import { isTerminal } from "../../task/lifecycle.ts"
import type { Notice, NoticeKey } from "../../task/notice.ts"
import type { AskingStep } from "../../task/record.ts"
import type { Tables } from "./tables.ts"
import { type Change, type Handlers, wakeSession } from "./change.ts"

export function createNoticeHandlers(tables: Tables) {
  const { tasks, notices } = tables

  /** True if the notice is pending, or claimed by the same step or by a step whose run is over. */
  function isFree(notice: Notice, by: AskingStep | null): boolean {
    if (notice.state === "pending") return true
    if (notice.state !== "claimed") return false
    return isSameStep(notice.claimedBy, by) || !isRunning(notice.claimedBy)
  }

  function isRunning({ taskId, run }: AskingStep): boolean {
    const claimant = tasks.find(taskId)
    return claimant !== undefined && claimant.course.run === run && !isTerminal(claimant.state.status)
  }

  /** Replaces each notice for which `change` returns another, and returns the keys of those. */
  function replace(
    keys: readonly NoticeKey[],
    change: (notice: Notice & { task: number }) => Notice | undefined,
  ): readonly NoticeKey[] {
    return keys.filter((key) => {
      const notice = notices.find(key)
      const changed = notice && change(notice)
      if (notice && changed) notices.save(notice.task, changed)
      return changed !== undefined
    })
  }

  return {
    "notice.claim": ({ keys, by }) =>
      replace(keys, (notice) =>
        isFree(notice, by) ? { ...toUnclaimed(notice), state: "claimed", claimedBy: by } : undefined,
      ),
    "notice.release": ({ keys, by }, change) =>
      replace(keys, (notice) => {
        if (notice.state !== "claimed" || !isSameStep(notice.claimedBy, by)) return undefined
        wakeSession(change, notice.session)
        return { ...toUnclaimed(notice), state: "pending" }
      }),
    "notice.consume": ({ keys, by }, change) =>
      replace(keys, (notice) => {
        if (!isFree(notice, by)) return undefined
        if (notice.kind === "ended") tasks.markResultUsed(notice.task, change.now)
        return { ...toUnclaimed(notice), state: "consumed", settledAt: change.now }
      }),
  } satisfies Partial<Handlers>
}

/** Uses the notices that the step has claimed, in the transaction that stores the step's answer. */
export function settleClaims({ tasks, notices }: Tables, step: AskingStep, change: Change): void {
  for (const notice of notices.claimedBy(step)) {
    if (notice.kind === "ended") tasks.markResultUsed(notice.task, change.now)
    notices.save(notice.task, { ...toUnclaimed(notice), state: "consumed", settledAt: change.now })
  }
}

function isSameStep(one: AskingStep, other: AskingStep | null): boolean {
  return other !== null && one.taskId === other.taskId && one.run === other.run && one.key === other.key
}

function toUnclaimed({ taskId, run, kind, workspace, session, notify, at, traceId }: Notice) {
  return { taskId, run, kind, workspace, session, notify, at, traceId }
}
