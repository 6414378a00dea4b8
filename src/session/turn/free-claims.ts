import type { AskingStep } from "../../task/record.ts"
import type { Notice } from "../../task/notice.ts"
import type { TurnScope } from "./turn-scope.ts"

const MOST_CLAIMS = 10_000

/**
 * Lets go of the results that calls had claimed which are made again: only what their new answers show counts as used.
 * Dying before it, it is done by whoever goes on with the turn; after it, the results are told like any other.
 */
export async function freeClaims(
  { agents: { store }, conversation: { log }, turn }: TurnScope,
  stepKeys: readonly string[],
): Promise<void> {
  const steps = stepKeys.flatMap((key) => turn.askingStep(key) ?? [])
  if (steps.length === 0) return
  const { id: session, workspace } = log
  const claimed = await store.notices({ workspace, session, states: ["claimed"] }, MOST_CLAIMS)
  const releases = steps.flatMap((by) => {
    const keys = claimed.filter((notice) => isClaimedBy(notice, by))
    return keys.length > 0 ? [{ op: "notice.release", keys, by } as const] : []
  })
  if (releases.length > 0) await store.commit(releases)
}

function isClaimedBy(notice: Notice, { taskId, run, key }: AskingStep): boolean {
  if (notice.state !== "claimed") return false
  const { claimedBy } = notice
  return claimedBy.taskId === taskId && claimedBy.run === run && claimedBy.key === key
}
