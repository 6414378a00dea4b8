import type { JsonObject } from "../../../base/json.ts"
import { toOneLine } from "../../../base/one-line.ts"
import type { ListedTask } from "../../../plugin/task-service.ts"
import type { PlacedTask } from "../../../plugin/task-family.ts"
import { toAbove } from "./task-facts.ts"
import { handBack, type ToolReturn } from "../../../plugin/tool.ts"

/** The model reads all of it, people the headline. */
export function answer(headline: string, payload: JsonObject): ToolReturn {
  return handBack({ digest: [toOneLine(headline)], facts: {}, artifacts: [], nextSteps: [], payload })
}

const MOST_SHOWN = 100

/** Answers with the first tasks of a list. `filters` names what the model can filter by, to see others. */
export function answerList(
  tasks: readonly PlacedTask<ListedTask>[],
  toFacts: (task: ListedTask) => JsonObject,
  filters: string,
): ToolReturn {
  const shown = tasks.slice(0, MOST_SHOWN).map((placed) => ({ ...toFacts(placed.task), ...toAbove(placed) }))
  const left = tasks.length - shown.length
  const note = left > 0 ? { note: `${left} older ones are not shown: ask for ${filters}.` } : {}
  const headline = tasks.length === 1 ? "1 task" : `${tasks.length} tasks`
  return answer(headline, { tasks: shown, count: tasks.length, ...note })
}
