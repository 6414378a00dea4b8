import type { Message } from "../../plugin/message.ts"
import type { SessionRecord } from "../../task/session.ts"
import type { TaskStore } from "../../task/store.ts"
import { applyEntry, parseEntry, markRedacted } from "./log-entry.ts"
import { parseSessionData } from "./session-data.ts"

const PAGE_SIZE = 500

/** The conversation as the store has it, from the last collection or reset on. */
export async function readHistory(
  store: TaskStore,
  { id, data, messageCount }: SessionRecord,
): Promise<{ readonly history: readonly Message[]; readonly position: number }> {
  let history: readonly Message[] = []
  let position = parseSessionData(data).historyAfter
  while (position < messageCount) {
    const records = await store.messages(id, position, PAGE_SIZE)
    const last = records.at(-1)
    if (!last) break
    for (const { body } of records) {
      const entry = parseEntry(body)
      if (!entry) continue
      if (entry.kind === "message" && entry.isRedacted) markRedacted(entry.message)
      history = applyEntry(history, entry)
    }
    position = last.position
  }
  return { history, position: messageCount }
}
