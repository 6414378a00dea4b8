import { toFairShare } from "../../../base/fair-share.ts"
import type { JsonObject, JsonValue } from "../../../base/json.ts"
import { shortenMiddle } from "../../../base/shorten.ts"
import type { ToolContext } from "../../../plugin/context.ts"
import type { TaskView } from "../../../plugin/task-service.ts"
import { isTerminal } from "../../../task/lifecycle.ts"
import type { BackgroundCall } from "./background-call.ts"

/** The share of an answer for results: the rest is for the text around them. */
const SHARE = 2 / 3
/** With less than this nothing can be read of a task. */
const LEAST_CHARACTERS = 400
const MOST_SHOWN = 50

export interface ShownResults {
  readonly tasks: readonly JsonObject[]
  /** Empty when everything is shown as it is. */
  readonly note: string
}

/** How one task reads, and where all of it is read. */
export interface ResultView {
  readonly toFacts: (view: TaskView) => JsonObject
  readonly reader: string
}

/**
 * As many of the tasks as an answer holds, those that have ended first: a conversation cuts the middle out of a longer
 * one, and nobody would know whose results were there. What is shown counts as used once this turn has
 * kept the answer; of what is not shown nothing is claimed, so that it is told by itself.
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
    ...(isCut ? [`What is cut short can be read alone: ${reader} shows all of it.`] : []),
    ...(left > 0 ? [`${left} more have ended, which are not shown here: they are told by themselves.`] : []),
  ]
  return { tasks: fitting, note: notes.join(" ") }
}

/** Read again: its record says since when it is used. */
async function useResult(tasks: ToolContext["tasks"], view: TaskView): Promise<TaskView> {
  const { id, status } = view.task
  if (!isTerminal(status)) return view
  await tasks.result(id, { consume: true })
  return tasks.get(id)
}

/** A field up to so long stays as it is. */
const SHORT = 120
const LEAST_ROOM = 80

/**
 * Cuts the longest of what is told of several tasks, so that all of it together takes so many characters at the most.
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
