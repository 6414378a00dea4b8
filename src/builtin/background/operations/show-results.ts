import { toFairShare } from "../../../base/fair-share.ts"
import type { JsonObject, JsonValue } from "../../../base/json.ts"
import { shortenMiddle } from "../../../base/shorten.ts"
import type { ToolContext } from "../../../plugin/context.ts"
import type { TaskView } from "../../../plugin/task-service.ts"
import { isTerminal } from "../../../task/lifecycle.ts"
import type { BackgroundCall } from "./background-call.ts"

/** The share of an answer for results: the rest is for the text around them. */
const SHARE = 2 / 3
/** With fewer characters than this, the facts of a task say nothing. */
const LEAST_CHARACTERS = 400
const MOST_SHOWN = 50

export interface ShownResults {
  readonly tasks: readonly JsonObject[]
  /** Empty unless facts were cut or ended tasks left out. */
  readonly note: string
}

/** How one task is shown, and by which tool all of it is read. */
export interface ResultView {
  readonly toFacts: (view: TaskView) => JsonObject
  readonly reader: string
}

/**
 * Shows as many of the tasks as fit into an answer, ended ones first: a conversation cuts the middle out of a longer
 * answer, and the model would not know whose results were there. A shown result counts as used once this turn has kept
 * the answer. Results that are not shown are not claimed, and are told by themselves.
 */
export async function showResults(
  { context: { tasks }, settings }: BackgroundCall,
  views: readonly TaskView[],
  { toFacts, reader }: ResultView,
): Promise<ShownResults> {
  const ended = views.filter(({ task }) => isTerminal(task.status))
  const live = views.filter(({ task }) => !isTerminal(task.status))
  const characters = Math.floor(settings.toolResultLimitCharacters * SHARE)
  const most = Math.min(Math.max(Math.floor(characters / LEAST_CHARACTERS), 1), MOST_SHOWN)
  const chosen = new Set([...ended, ...live].slice(0, most))
  const shown = await Promise.all(views.filter((view) => chosen.has(view)).map((view) => useResult(tasks, view)))
  const facts = shown.map(toFacts)
  const fitting = fitFacts(facts, characters)
  const isCut = fitting.some((one, index) => one !== facts[index])
  const left = ended.filter((view) => !chosen.has(view)).length
  const notes = [
    ...(isCut ? [`Some results are cut: ${reader} shows one in full.`] : []),
    ...(left > 0 ? [`${left} more tasks have ended. Their results are not shown here and come by themselves.`] : []),
  ]
  return { tasks: fitting, note: notes.join(" ") }
}

/** Claims the result of an ended task and reads the task again, since its record says when the result was used. */
async function useResult(tasks: ToolContext["tasks"], view: TaskView): Promise<TaskView> {
  const { id, status } = view.task
  if (!isTerminal(status)) return view
  await tasks.result(id, { consume: true })
  return tasks.get(id)
}

/** Fields of up to so many characters are never cut. */
const SHORT = 120
const LEAST_ROOM = 80

/**
 * Cuts the longest facts of several tasks, so that all of them together take at most so many characters.
 */
function fitFacts(all: readonly JsonObject[], characters: number): readonly JsonObject[] {
  const lengths = all.map((facts) => JSON.stringify(facts).length)
  const share = toFairShare(lengths, characters)
  return all.map((facts, index) => ((lengths[index] ?? 0) > share ? cutFacts(facts, share) : facts))
}

function cutFacts(facts: JsonObject, share: number): JsonObject {
  const fields = Object.entries(facts).map(([name, value]) => ({ name, value, text: toText(value) }))
  const long = fields.filter(({ text }) => text.length > SHORT)
  const shortLength = fields.reduce((sum, { name, text }) => sum + name.length + Math.min(text.length, SHORT), 0)
  const room = Math.max(Math.floor((share - shortLength) / Math.max(long.length, 1)), LEAST_ROOM)
  return Object.fromEntries(
    fields.map(({ name, value, text }) => [name, text.length > SHORT ? shortenMiddle(text, room) : value]),
  )
}

function toText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value)
}
