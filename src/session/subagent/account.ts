import { MeanwhileError } from "../../base/error.ts"
import type { AgentBudget } from "../../plugin/agent-request.ts"
import type { AskingRun } from "../../plugin/context.ts"
import type { ChildSpending } from "../../plugin/sessions-port.ts"
import { NO_USAGE, type Usage } from "../../task/progress.ts"
import type { Conversation } from "../conversation/conversation.ts"
import type { Using } from "../conversation/scope.ts"

/** The usage of one run of an agent, and the rest of its budget. */
export interface ChildAccount {
  /** Reports what the run's turns spent while nobody followed them: before a crash, or in another process. */
  catchUp(paid: Usage): void
  /** Counts the time of turns. The time between them, in which the agent waits, does not count. */
  takeTime(durationMs: number): void
  /** The budget left for the next turn; undefined if nothing bounds it. */
  left(): AgentBudget | undefined
  close(): void
}

export interface AccountOptions {
  readonly conversation: Conversation
  /** Null for a child that no call asked for. */
  readonly run: AskingRun | null
  readonly budget: AgentBudget | undefined
  readonly onSpent: ChildSpending | undefined
}

/** Reports the child's model calls from now on. Usage that the run's own record has already is not reported again. */
export async function openAccount(scope: Using<"models" | "store">, options: AccountOptions): Promise<ChildAccount> {
  const { conversation, run, budget, onSpent } = options
  requirePrice(scope, conversation, budget)
  let told = run ? subtract(run.usage, await readEarlier(scope, run)) : NO_USAGE
  let timeMs = 0
  const isBounded = toLeft(budget, run, told, timeMs) !== undefined
  const tell: ChildSpending = (usage, { isLast }) => {
    told = { tokens: told.tokens + usage.tokens, costMicros: told.costMicros + usage.costMicros }
    // The turn ends itself when its budget is used up: the run is not stopped, but hands back what it has.
    onSpent?.(usage, { isLast: isLast || isBounded })
  }
  conversation.onSpent = tell
  return {
    catchUp(paid) {
      const rest = subtract(paid, told)
      if (rest.tokens > 0 || rest.costMicros > 0) tell(rest, { isLast: true })
    },
    takeTime(durationMs) {
      timeMs += durationMs
    },
    left: () => toLeft(budget, run, told, timeMs),
    close() {
      if (conversation.onSpent === tell) conversation.onSpent = null
    },
  }
}

/** A budget of money needs a price. */
function requirePrice({ models }: Using<"models">, { model }: Conversation, budget: AgentBudget | undefined): void {
  if (budget?.costMicros === undefined || models.factsOf(model.id).price !== null) return
  const message = `The price of ${model.id} is not known, so a cost budget cannot be enforced. Give a token budget, or set the price in \`models\` of the configuration.`
  throw new MeanwhileError("invalid_input", message, { model: model.id })
}

/** The usage of the earlier runs: a task's record adds up the usage of all its runs. */
async function readEarlier({ store }: Using<"store">, { taskId, run }: AskingRun): Promise<Usage> {
  return run === 1 ? NO_USAGE : ((await store.run(taskId, run - 1))?.usage ?? NO_USAGE)
}

/** The rest of the run's budget or of its task's limits, whichever is less. */
function toLeft(
  budget: AgentBudget = {},
  run: AskingRun | null,
  spent: Usage,
  timeMs: number,
): AgentBudget | undefined {
  const tokens = least(minus(budget.tokens, spent.tokens), run && minus(run.limits.tokens, run.usage.tokens))
  const costMicros = least(
    minus(budget.costMicros, spent.costMicros),
    run && minus(run.limits.costMicros, run.usage.costMicros),
  )
  const time = minus(budget.timeMs, timeMs)
  if (tokens === null && costMicros === null && time === null) return undefined
  return {
    ...(tokens !== null && { tokens }),
    ...(costMicros !== null && { costMicros }),
    ...(time !== null && { timeMs: time }),
  }
}

function minus(limit: number | null | undefined, used: number): number | null {
  return limit === null || limit === undefined ? null : Math.max(limit - used, 0)
}

function least(a: number | null, b: number | null): number | null {
  return a === null ? b : b === null ? a : Math.min(a, b)
}

function subtract(a: Usage, b: Usage): Usage {
  return { tokens: Math.max(a.tokens - b.tokens, 0), costMicros: Math.max(a.costMicros - b.costMicros, 0) }
}
