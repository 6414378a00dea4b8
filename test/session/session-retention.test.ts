import { join } from "node:path"
import { expect, test, vi } from "vitest"
import { createManualClock, type ManualClock } from "../../src/base/manual-clock.ts"
import { LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { createSessionId, DEFAULT_WORKSPACE, type SessionId, type WorkspaceId } from "../../src/task/id.ts"
import type { OpenConversations } from "../../src/session/conversation/open-conversations.ts"
import { TOLD_MARKS } from "../../src/session/saved/documents.ts"
import { createSessionRetention } from "../../src/session/saved/idle-sessions.ts"
import { silentLog } from "../../src/runner/redaction/redacting-log.ts"
import type { TaskStore } from "../../src/task/store.ts"
import { eventually } from "../support/eventually.ts"
import { type AgentOptions, openScripted } from "../support/session/open-agent.ts"
import { openTestRuntime } from "../support/test-engine.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

const MINUTE_MS = 60_000

const RETENTION = { retentionSeconds: 300 }

interface Place {
  readonly clock: ManualClock
  readonly folder: string
}

const createPlace = (): Place => ({ clock: createManualClock(), folder: createFolder() })

async function open({ clock, folder }: Place, options: AgentOptions = {}) {
  const script = Array.from({ length: 20 }, () => "Hello.")
  const shared = { isKept: true, folder, clock, sessions: RETENTION, ...options } satisfies AgentOptions
  const { runtime } = await openScripted(createScriptedModel(script, { clock }), shared)
  const { store } = runtime.engine
  const looks = shared.takesWork === undefined && shared.sessions.retentionSeconds ? watchLooks(store) : null
  return {
    runtime,
    store,
    /** A conversation in which something was said, and which is closed again. */
    async talk(options: { readonly workspace?: WorkspaceId } = {}): Promise<SessionId> {
      const session = await runtime.createSession(options)
      await session.send("Hello.")
      await session.close()
      return session.id
    },
    /** Lets the time pass, minute by minute, with a look in each. */
    async pass(minutes: number): Promise<void> {
      for (let minute = 0; minute < minutes; minute++) {
        const look = looks ? looks.next() : undefined
        clock.advance(MINUTE_MS)
        await look
        // The next look is set up once this one is over.
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
  }
}

/** `next` resolves when a look has come to the end of all workspaces. */
function watchLooks(store: TaskStore) {
  let ended = Promise.withResolvers<void>()
  const sessionWorkspaces = store.sessionWorkspaces.bind(store)
  const watched: typeof sessionWorkspaces = async (after, limit) => {
    const found = await sessionWorkspaces(after, limit)
    if (found.length === 0) ended.resolve()
    return found
  }
  Object.assign(store, { sessionWorkspaces: watched })
  return {
    next(): Promise<void> {
      ended = Promise.withResolvers()
      return ended.promise
    },
  }
}

const has = async ({ store }: Awaited<ReturnType<typeof open>>, id: SessionId) =>
  (await store.session(id)) !== undefined

test("a conversation that nobody used for longer than its retention goes, with all that is of it, and a used one stays", async () => {
  const place = createPlace()
  const here = await open(place, { tools: [echo] })
  const { runtime, store } = here
  const workspace = "other" as WorkspaceId
  const [idle, used, elsewhere] = [await here.talk(), await here.talk(), await here.talk({ workspace })]
  const { id: task } = await runtime.tasks.start({
    tool: "echo",
    input: { value: "x" },
    session: idle,
    notify: "silent",
  })
  await runtime.tasks.result(task, { waitMs: 20_000, consume: true })
  const child = { id: createSessionId(), workspace: DEFAULT_WORKSPACE, parent: idle, data: {} }
  const mark = { workspace: DEFAULT_WORKSPACE, collection: TOLD_MARKS, id: idle, value: 7, expectedVersion: 0 }
  await store.commit([
    { op: "session.create", ...child },
    { op: "document.put", ...mark },
  ])
  await here.pass(3)
  const session = await runtime.openSession(used)
  await session.send("Once more.")
  await session.close()
  await here.pass(1)
  expect([await has(here, idle), await has(here, elsewhere)]).toEqual([true, true])
  await here.pass(3)
  expect([await has(here, idle), await has(here, elsewhere), await has(here, child.id)]).toEqual([false, false, false])
  expect(await store.document(DEFAULT_WORKSPACE, TOLD_MARKS, idle)).toBeUndefined()
  await expect(runtime.tasks.get(task)).rejects.toMatchObject({ code: "not_found" })
  expect(await has(here, used)).toBe(true)
})

test("nothing goes by default, nor in a process that only looks or does one thing", async () => {
  const place = createPlace()
  const here = await open(place, { sessions: {} })
  const id = await here.talk()
  const others = [await open(place, { takesWork: false }), await open(place, { takesWork: "own" })]
  const looks = [here, ...others].map(({ store }) => vi.spyOn(store, "sessionWorkspaces"))
  await here.pass(7)
  for (const look of looks) expect(look).not.toHaveBeenCalled()
  expect(await has(here, id)).toBe(true)
})

test("a conversation stays while a task of it lives, and goes once that has ended long ago", async () => {
  const gated = createGatedTool({ obeys: true })
  const here = await open(createPlace(), { tools: [gated.tool] })
  const { runtime } = here
  const id = await here.talk()
  const started = {
    tool: "gated",
    input: {},
    session: id,
    lifetime: "forever",
    notify: "silent",
    timeoutMs: null,
  } as const
  const { id: task } = await runtime.tasks.start(started)
  const call = await gated.call(1)
  await here.pass(7)
  expect(await has(here, id)).toBe(true)
  call.finish()
  await runtime.tasks.result(task, { waitMs: 20_000 })
  await here.pass(4)
  expect(await has(here, id)).toBe(true)
  await here.pass(3)
  expect(await has(here, id)).toBe(false)
})

test("a conversation stays while a question of it is open", async () => {
  const gated = createGatedTool({ obeys: true, background: { mode: "always" } })
  const rules = [{ tool: "gated", decision: "ask" as const }]
  const here = await open(createPlace(), { tools: [gated.tool], permissions: { rules, approvalExpirySeconds: null } })
  const { runtime } = here
  const id = await here.talk()
  const { id: task } = await runtime.tasks.start({ tool: "gated", input: {}, session: id, notify: "silent" })
  await here.pass(7)
  expect(await has(here, id)).toBe(true)
  const [item] = await runtime.desk(LOCAL_PERSON).inbox.list()
  await runtime.desk(LOCAL_PERSON).inbox.answer(item?.id ?? "", false)
  await runtime.tasks.result(task, { waitMs: 20_000 })
  await here.pass(7)
  expect(await has(here, id)).toBe(false)
})

test("a conversation stays while a result waits to be told, and goes once it was", async () => {
  const here = await open(createPlace(), { tools: [echo] })
  const { runtime } = here
  const id = await here.talk()
  const { id: task } = await runtime.tasks.start({
    tool: "echo",
    input: { value: "x" },
    session: id,
    notify: "next_turn",
  })
  await runtime.tasks.result(task, { waitMs: 20_000 })
  await here.pass(7)
  expect(await has(here, id)).toBe(true)
  await runtime.tasks.result(task, { consume: true })
  await here.pass(2)
  expect(await has(here, id)).toBe(false)
})

test("a conversation that is open here stays, and goes once it is closed", async () => {
  const here = await open(createPlace())
  const { runtime } = here
  const session = await runtime.createSession()
  await session.send("Hello.")
  await here.pass(7)
  expect(await has(here, session.id)).toBe(true)
  await session.close()
  await here.pass(2)
  expect(await has(here, session.id)).toBe(false)
})

test("a conversation that is used between the look and the deletion stays as it is", async () => {
  const place = createPlace()
  const here = await open(place)
  const there = await open(place, { takesWork: false })
  const id = await here.talk()
  const commit = here.store.commit.bind(here.store)
  let uses = 0
  const late: typeof commit = async (operations, options) => {
    if (operations.some(({ op }) => op === "session.delete") && uses++ === 0) {
      const session = await there.runtime.openSession(id)
      await session.send("I am back.")
    }
    return commit(operations, options)
  }
  Object.assign(here.store, { commit: late })
  await here.pass(6)
  await eventually("it was to be deleted", () => uses > 0)
  await here.pass(1)
  expect((await here.runtime.sessions.load(id))?.messages).toHaveLength(4)
})

test("one look reads a bounded number of conversations, and the next goes on behind those that have to stay", async () => {
  const { clock, folder } = createPlace()
  const { engine, tasks } = await openTestRuntime({ dataDirectory: join(folder, "data"), clock })
  const { store } = engine
  const create = () =>
    ({ op: "session.create", id: createSessionId(), workspace: DEFAULT_WORKSPACE, data: {} }) as const
  const go = Array.from({ length: 20 }, create)
  await store.commit(go)
  clock.advance(MINUTE_MS)
  const stay = Array.from({ length: 450 }, create)
  await store.commit(stay)
  clock.advance(2 * MINUTE_MS)
  const staying = new Set(stay.map(({ id }) => id))
  const open = { has: (id: SessionId) => staying.has(id) } as OpenConversations
  const look = createSessionRetention({ clock, log: silentLog, open, runner: tasks, store }, MINUTE_MS)
  const count = async () => (await store.sessions({ workspace: DEFAULT_WORKSPACE }, { limit: 1_000 })).items.length
  const read = vi.spyOn(store, "sessions")
  await look()
  expect(read.mock.calls.map(([, { limit }]) => limit)).toEqual([200])
  expect(await count()).toBe(470)
  await look()
  expect(await count()).toBe(470)
  await look()
  expect(await count()).toBe(450)
  await look()
  expect(await count()).toBe(450)
})

test.each([0, -1, "a day" as never])(
  "a retention of %o is refused before anything is opened",
  async (retentionSeconds) => {
    const folder = createFolder()
    const opening = openScripted(createScriptedModel([]), { isKept: true, folder, sessions: { retentionSeconds } })
    await expect(opening).rejects.toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("retentionSeconds"),
    })
  },
)
