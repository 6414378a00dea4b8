import type { TurnRun } from "../../runner/turn/turn-run.ts"
import { readTurns } from "../log/read-turns.ts"
import type { AgentScope } from "../conversation/scope.ts"
import { createTurnBudget, readBudgetMetadata, type TurnBudget } from "./turn-budget.ts"

/** Of a turn that was begun with one and whose worker is gone. */
export async function openLeftBudget({ store, clock }: AgentScope, run: TurnRun): Promise<TurnBudget | null> {
  const task = await store.task(run.taskId)
  const left = task && readBudgetMetadata(task.metadata)
  if (!left) return null
  const { usage, costMicros } = await readTurns(store, run.session, new Set([run.taskId]))
  const spentBefore = { tokens: usage.inputTokens + usage.outputTokens, costMicros, timeMs: task.ranMs }
  return createTurnBudget({ left, clock, spentBefore })
}
