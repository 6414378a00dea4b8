import type { AskingRun } from "../plugin/context.ts"
import type { ChildSpending } from "../plugin/sessions-port.ts"
import { NO_USAGE, type Usage } from "../task/progress.ts"
import { readAnswer } from "./child-turn.ts"
import type { AgentScope } from "./scope.ts"
import type { Session } from "./session.ts"

interface FollowedChild {
  readonly session: Pick<Session, "id">
  readonly run: AskingRun | null
  readonly isFound: boolean
}

export interface FollowedSpending {
  /** Tells what the child paid while nobody followed it: before a crash, or in another process. */
  catchUp(): Promise<void>
  release(): void
}

const UNFOLLOWED: FollowedSpending = { async catchUp() {}, release() {} }

/** Tells of the child's model calls from here on. What the run's own record has already is not told again. */
export async function followSpending(
  scope: AgentScope,
  { session, run, isFound }: FollowedChild,
  onSpent: ChildSpending | undefined,
): Promise<FollowedSpending> {
  const conversation = scope.open.get(session.id)
  if (!onSpent || !conversation) return UNFOLLOWED
  const record = isFound && run ? await scope.store.task(run.taskId) : undefined
  let told: Usage = record?.usage ?? NO_USAGE
  const tell: ChildSpending = (usage, options) => {
    told = { tokens: told.tokens + usage.tokens, costMicros: told.costMicros + usage.costMicros }
    onSpent(usage, options)
  }
  conversation.onSpent = tell
  return {
    async catchUp() {
      const { usage, costMicros } = await readAnswer(scope, session.id)
      const tokens = usage.inputTokens + usage.outputTokens - told.tokens
      const rest = { tokens: Math.max(tokens, 0), costMicros: Math.max(costMicros - told.costMicros, 0) }
      if (rest.tokens > 0 || rest.costMicros > 0) tell(rest, { isLast: true })
    },
    release() {
      if (conversation.onSpent === tell) conversation.onSpent = null
    },
  }
}
