import { callsOf, type FunctionCall } from "../../plugin/message.ts"
import type { SessionId } from "../../task/id.ts"
import type { TaskStore } from "../../task/store.ts"
import { parseEntry } from "./log-entry.ts"

const PAGE_SIZE = 500

/** All that the model of a session ever called, in order, whichever process asked it. A call is in the log before it begins. */
export async function readCalls(store: TaskStore, session: SessionId): Promise<readonly FunctionCall[]> {
  const calls: FunctionCall[] = []
  for (let position = 0; ; ) {
    const records = await store.messages(session, position, PAGE_SIZE)
    for (const { body } of records) {
      const entry = parseEntry(body)
      // What it was handed of another conversation is of no turn of its own.
      if (entry?.kind === "message" && entry.turn !== null) calls.push(...callsOf(entry.message))
    }
    const last = records.at(-1)
    if (!last || records.length < PAGE_SIZE) return calls
    position = last.position
  }
}
