import { expect, test } from "vitest"
import type { Runtime } from "../../src/app.ts"
import { NO_TOKENS } from "../../src/plugin/token-usage.ts"
import type { LedgerEntry } from "../../src/session/ledger/ledger.ts"
import { toStoredEntry } from "../../src/session/log/log-entry.ts"
import { readLedger } from "../../src/session/log/ledger-record.ts"
import { createSessionId, DEFAULT_WORKSPACE, type SessionId, type WorkspaceId } from "../../src/task/id.ts"
import type { TaskStore } from "../../src/task/store.ts"
import { openAgent } from "../support/session/open-agent.ts"

const read = async (runtime: Runtime, session?: SessionId): Promise<readonly LedgerEntry[]> =>
  (await Array.fromAsync(runtime.exportLedger(session ? { session } : {}))).map(
    (line) => JSON.parse(line) as LedgerEntry,
  )

test("a long record is read page by page, with every call once", async () => {
  const { runtime } = await openAgent([], { isKept: true })
  const { store } = runtime.engine
  const long = await writeSession(store, 1_100)
  for (let count = 0; count < 120; count++) await writeSession(store, 1)
  await writeSession(store, 1, "elsewhere" as WorkspaceId)
  const limits: number[] = []
  const watched: TaskStore = {
    ...store,
    messages: (id, after, limit) => (limits.push(limit), store.messages(id, after, limit)),
  }
  let count = 0
  for await (const _ of readLedger(watched)) count += 1
  expect(count).toBe(1_220)
  expect(Math.max(...limits)).toBeLessThanOrEqual(500)
  const positions = (await Array.fromAsync(readLedger(store, { session: long }))).map(({ usage }) => usage.inputTokens)
  expect(positions).toEqual(Array.from({ length: 1_100 }, (_, index) => index))
})

test("a session that is used while the record is read is not missed", async () => {
  const { runtime } = await openAgent([], { isKept: true })
  const { store } = runtime.engine
  const ids: SessionId[] = []
  for (let count = 0; count < 150; count++) ids.push(await writeSession(store, 1))
  const [oldest] = ids
  const seen = new Set<SessionId>()
  for await (const { session } of readLedger(store)) {
    if (seen.size === 50 && oldest) await append(store, oldest)
    seen.add(session)
  }
  expect(seen.size).toBe(150)
})

test("an unknown session, or one of another workspace, is refused", async () => {
  const { runtime } = await openAgent([], { isKept: true })
  const other = await writeSession(runtime.engine.store, 1, "elsewhere" as WorkspaceId)
  for (const session of [createSessionId(), other]) {
    await expect(read(runtime, session)).rejects.toMatchObject({ code: "not_found" })
  }
})

async function writeSession(store: TaskStore, calls: number, workspace = DEFAULT_WORKSPACE): Promise<SessionId> {
  const id = createSessionId()
  const messages = Array.from({ length: calls }, (_, index) => toPaid(index))
  await store.commit([
    { op: "session.create", id, workspace, data: {} },
    { op: "session.update", id, expectedVersion: 1, messages },
  ])
  return id
}

async function append(store: TaskStore, id: SessionId): Promise<void> {
  const version = (await store.session(id))?.version ?? 0
  await store.commit([{ op: "session.update", id, expectedVersion: version, messages: [toPaid(1)] }])
}

const toPaid = (inputTokens: number) =>
  toStoredEntry({
    kind: "paid",
    entry: {
      turn: null,
      task: null,
      model: "a/b",
      usage: { ...NO_TOKENS, inputTokens },
      costMicros: null,
      purpose: "helper",
    },
  })
