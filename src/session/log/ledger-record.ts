import type { TaskStore } from "../../task/store.ts"
import {
  type LedgerKey,
  type LedgerTotal,
  type LedgerEntry,
  addTotals,
  NOTHING_USED,
  toTotal,
} from "../ledger/ledger.ts"
import { MeanwhileError } from "../../base/error.ts"
import { toGivenWorkspace, toOptionalId } from "../../task/given-id.ts"
import type { SessionId, WorkspaceId } from "../../task/id.ts"
import type { SessionRecord } from "../../task/session.ts"
import { listSessions, readEntries } from "./read-log.ts"
import { parseSessionData } from "./session-data.ts"

export interface LedgerRow {
  /** Null for calls without this key, such as calls outside a turn. */
  readonly key: string | null
  readonly total: LedgerTotal
}

/** The usage of all model calls of kept sessions, from every process. */
export interface LedgerRecord {
  /** Yields lines, newline included. Each line is one JSON object. */
  exportLedger(query?: LedgerQuery): AsyncGenerator<string>
  /** Sorted by tokens, most first. */
  ledgerTotals(by: LedgerKey, query?: LedgerQuery): Promise<readonly LedgerRow[]>
}

export function createLedgerRecord(store: TaskStore): LedgerRecord {
  return {
    async *exportLedger(query) {
      for await (const entry of readLedger(store, query)) yield `${JSON.stringify(entry)}\n`
    },
    async ledgerTotals(by, query) {
      const totals = new Map<string | null, LedgerTotal>()
      for await (const entry of readLedger(store, query)) {
        const key = entry[by]
        totals.set(key, addTotals(totals.get(key) ?? NOTHING_USED, toTotal(entry)))
      }
      const rows = [...totals].map(([key, total]) => ({ key, total }))
      return rows.toSorted((a, b) => tokensOf(b.total) - tokensOf(a.total))
    },
  }
}

function tokensOf({ usage }: LedgerTotal): number {
  return usage.inputTokens + usage.outputTokens
}

export interface LedgerQuery {
  readonly workspace?: string
  /** Default: all sessions of the workspace. An unknown id is refused as `not_found`. */
  readonly session?: string
}

/**
 * Reads the usage of model calls from the logs of sessions, earlier processes included. The session that was used last
 * comes first; within a session the oldest call comes first. Only a page is in memory at a time.
 */
export async function* readLedger(store: TaskStore, query: LedgerQuery = {}): AsyncGenerator<LedgerEntry> {
  const workspace = toGivenWorkspace(query.workspace)
  const session = toOptionalId("session", query.session)
  if (session === null) {
    for await (const record of readSessions(store, workspace)) yield* readSession(store, record)
    return
  }
  const record = await store.session(session)
  if (record?.workspace !== workspace) {
    throw new MeanwhileError("not_found", `There is no session ${session} in this workspace.`, { session })
  }
  yield* readSession(store, record)
}

/**
 * A session that is used during this read moves to the front of the list, so the front is read until nothing in it is new.
 */
async function* readSessions(store: TaskStore, workspace: WorkspaceId): AsyncGenerator<SessionRecord> {
  const seen = new Set<SessionId>()
  let since = Number.NEGATIVE_INFINITY
  for (let hasNew = true; hasNew; ) {
    hasNew = false
    const from = since
    for await (const record of listSessions(store, workspace)) {
      if (record.updatedAt < from) break
      since = Math.max(since, record.updatedAt)
      if (seen.has(record.id)) continue
      seen.add(record.id)
      hasNew = true
      yield record
    }
  }
}

/** Reads at least the entries that the session had when it was listed. Those that a fork copied were paid for once. */
async function* readSession(store: TaskStore, { id: session, data }: SessionRecord): AsyncGenerator<LedgerEntry> {
  const { copiedUpTo } = parseSessionData(data)
  for await (const { entry, at } of readEntries(store, session, copiedUpTo)) {
    if (entry.kind === "paid") yield { at, session, ...entry.entry }
    if (entry.kind !== "message" || !entry.call) continue
    const { model, usage, costMicros, task = null } = entry.call
    yield { at, session, turn: entry.turn, task, model, usage, costMicros, purpose: "turn" }
  }
}
