import { textOf } from "../../plugin/message.ts"
import type { SessionId } from "../../task/id.ts"
import type { TaskStore } from "../../task/store.ts"
import { type LogEntry, parseEntry } from "./log-entry.ts"

const PAGE_SIZE = 100

/** One text of the person or the agent, without the context that the model was given beside it. */
export interface SaidText {
  readonly by: "person" | "agent"
  readonly text: string
}

export interface RecallOptions {
  readonly count: number
  /** Only texts said before this moment. Has no effect in a session that is not kept. */
  readonly before?: number
}

/** The last texts of the person and the agent since the last reset, oldest first. */
export async function recallSaid(
  store: TaskStore,
  { id, position }: { readonly id: SessionId; readonly position: number },
  { count, before = Number.POSITIVE_INFINITY }: RecallOptions,
): Promise<readonly SaidText[]> {
  let said: readonly SaidText[] = []
  for (let end = position; end > 0 && said.length < count; end -= PAGE_SIZE) {
    const begin = Math.max(0, end - PAGE_SIZE)
    const records = (await store.messages(id, begin, end - begin)).filter(({ at }) => at < before)
    const entries = records.map(({ body }) => parseEntry(body)).filter((entry) => entry !== undefined)
    said = [...addSaid([], entries), ...said]
    if (entries.some(beginsOver)) break
  }
  return said.slice(-count)
}

/** Adds the texts of these entries. A reset drops every text before it. */
export function addSaid(said: readonly SaidText[], entries: readonly LogEntry[]): readonly SaidText[] {
  const reset = entries.findLastIndex(beginsOver)
  const added = entries.slice(reset + 1).flatMap(toSaid)
  return reset < 0 ? [...said, ...added] : added
}

const beginsOver = ({ kind }: LogEntry): boolean => kind === "reset"

/** The text that the person or the agent said in one entry. Other entries, and prompts that nobody said, have none. */
export function toSaid(entry: LogEntry): readonly SaidText[] {
  if (entry.kind !== "message" || entry.message.role === "tool") return []
  const { message, said } = entry
  const isPersons = message.role === "user"
  const text = isPersons && said !== undefined ? (said ?? "") : textOf(message)
  return text.trim() === "" ? [] : [{ by: isPersons ? "person" : "agent", text }]
}
