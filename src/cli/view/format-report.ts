import { shortId, toLine } from "../format.ts"
import type { EventOf } from "./agent-event.ts"

const TITLES_CHARACTERS = 100

/** Stands before what the agent says without having been asked. */
export function formatReportHead({ tasks, group }: Pick<EventOf<"report.started">, "tasks" | "group">): string {
  const [first] = tasks
  if (group) return `(about group ${toLine(group.name)}: ${tasks.length === 1 ? "1 task" : `${tasks.length} tasks`})`
  if (tasks.length === 1 && first) return `(about task ${shortId(first.id)}: ${bound(toLine(first.title))})`
  return `(about ${tasks.length} tasks: ${bound(tasks.map(({ title }) => toLine(title)).join(", "))})`
}

function bound(text: string): string {
  return text.length > TITLES_CHARACTERS ? `${text.slice(0, TITLES_CHARACTERS - 1)}…` : text
}
