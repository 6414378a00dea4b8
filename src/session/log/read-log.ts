import { throughPages } from "../../base/pages.ts"
import type { Message } from "../../plugin/message.ts"
import { addTokens, NO_TOKENS, type TokenUsage } from "../../plugin/token-usage.ts"
import type { SessionId, TaskId, WorkspaceId } from "../../task/id.ts"
import type { SessionRecord } from "../../task/session.ts"
import type { SessionFilter, TaskStore } from "../../task/store.ts"
import { applyEntry, type LogEntry, markRedacted, parseEntry } from "./log-entry.ts"
import { parseSessionData } from "./session-data.ts"

const SESSIONS_AT_ONCE = 100
const ENTRIES_AT_ONCE = 500

/** All sessions of a workspace, most recently used first. Only a page is in memory at a time. */
export async function* listSessions(
  store: Pick<TaskStore, "sessions">,
  workspace: WorkspaceId,
): AsyncGenerator<SessionRecord> {
  const pages = throughPages((from) => store.sessions({ workspace }, { limit: SESSIONS_AT_ONCE, ...from }))
  for await (const items of pages) yield* items
}

/** These sessions and those below them, however deep; each comes before those below it. */
export async function readFamily(
  store: Pick<TaskStore, "sessions">,
  workspace: WorkspaceId,
  sessions: readonly SessionId[],
): Promise<readonly SessionId[]> {
  const family: SessionId[] = []
  for (let next = sessions; next.length > 0; ) {
    family.push(...next)
    next = (await Promise.all(next.map((parent) => readChildren(store, { workspace, parent })))).flat()
  }
  return family
}

async function readChildren(store: Pick<TaskStore, "sessions">, filter: SessionFilter): Promise<readonly SessionId[]> {
  const children: SessionId[] = []
  const pages = throughPages((from) => store.sessions(filter, { limit: SESSIONS_AT_ONCE, ...from }))
  for await (const items of pages) children.push(...items.map(({ id }) => id))
  return children
}

/** A session's log after a position, oldest first. Entries that only a newer version knows are left out. */
export async function* readEntries(
  store: TaskStore,
  session: SessionId,
  after = 0,
): AsyncGenerator<{ readonly entry: LogEntry; readonly position: number; readonly at: number }> {
  for (let from = after; ; ) {
    const records = await store.messages(session, from, ENTRIES_AT_ONCE)
    for (const { body, position, at } of records) {
      const entry = parseEntry(body)
      if (entry) yield { entry, position, at }
    }
    const last = records.at(-1)
    if (!last || records.length < ENTRIES_AT_ONCE) return
    from = last.position
  }
}

/**
 * The conversation as it was when its record was read, from the last collection or reset on. Another process may append
 * meanwhile: entries behind the returned position are left out.
 */
export async function readHistory(
  store: TaskStore,
  { id, data, messageCount }: SessionRecord,
): Promise<{ readonly history: readonly Message[]; readonly position: number }> {
  let history: readonly Message[] = []
  const { historyAfter } = parseSessionData(data)
  if (historyAfter >= messageCount) return { history, position: messageCount }
  for await (const { entry, position } of readEntries(store, id, historyAfter)) {
    if (position > messageCount) break
    if (entry.kind === "message" && entry.isRedacted) markRedacted(entry.message)
    history = applyEntry(history, entry)
  }
  return { history, position: messageCount }
}

/**
 * Messages and usage of some turns of a session, read from its log, so that it does not matter which process took them.
 */
export interface TurnsRead {
  /** The turns' messages in order, without those that began a turn. */
  readonly messages: readonly Message[]
  readonly usage: TokenUsage
  /** The cost of the calls whose price is known. */
  readonly costMicros: number
}

export async function readTurns(store: TaskStore, session: SessionId, turns: ReadonlySet<TaskId>): Promise<TurnsRead> {
  const messages: Message[] = []
  let usage = NO_TOKENS
  let costMicros = 0
  for await (const { entry } of readEntries(store, session)) {
    if (entry.kind !== "message" && entry.kind !== "paid") continue
    const { turn } = entry.kind === "paid" ? entry.entry : entry
    if (turn === null || !turns.has(turn)) continue
    if (entry.kind === "message") messages.push(entry.message)
    const paid = entry.kind === "paid" ? entry.entry : entry.call
    if (!paid) continue
    usage = addTokens(usage, paid.usage)
    costMicros += paid.costMicros ?? 0
  }
  return { messages, usage, costMicros }
}
