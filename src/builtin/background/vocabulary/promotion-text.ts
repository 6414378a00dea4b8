import type { PromotedAnswer } from "../../../plugin/tool-hooks.ts"

/** The text the model reads when a call moved to the background by itself. `hint` says what it can do with the task. */
export function toPromotionText({ task, afterMs }: PromotedAnswer, hint: string): string {
  if (task.status === "waiting") {
    return `It needs a person's approval first and waits for it as task ${task.id}. You will be told how it ends: go on with other work, and do not ask for the approval again.`
  }
  const since = afterMs > 0 ? `It still runs after ${Math.round(afterMs / 100) / 10} s and goes on` : "It runs"
  const { timeoutMs } = task.limits
  const limit = timeoutMs === null ? "" : ` It is stopped when it has run for ${timeoutMs / 1_000} s.`
  return `${since} in the background as task ${task.id}.${limit} Its result comes back to you by itself: go on with other work, or end your turn. ${hint}`
}
