import { expect, test, vi } from "vitest"
import { createSessionId, type SessionId, type WorkspaceId } from "../../src/task/id.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { createGate } from "../support/session/gate.ts"
import { openAgent, openScripted, PLACES } from "../support/session/open-agent.ts"

const KEPT = { isKept: true } as const
const SECRET = "sk-ant-api03-AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJ"

const idsOf = ({ items }: { readonly items: readonly { readonly id: SessionId }[] }) => items.map(({ id }) => id)

test("a session keeps the metadata that it was created with, and lists are filtered by them", async () => {
  const { runtime, folder } = await openAgent(["Hello.", "Hello.", "Hello."], KEPT)
  const create = async (userId: string, plan: string) => {
    const session = await runtime.createSession({ metadata: { userId, plan } })
    await session.send("Hello.")
    return session.id
  }
  const [first, second, third] = [
    await create("anna", "free"),
    await create("ben", "free"),
    await create("anna", "paid"),
  ]
  const there = await openScripted(createScriptedModel([]), { isKept: true, folder, takesWork: false })
  for (const { sessions } of [runtime, there.runtime]) {
    const found = async (metadata: Record<string, string>) => idsOf(await sessions.list({ metadata }))
    expect(await found({ userId: "anna" })).toEqual([third, first])
    expect(await found({ userId: "anna", plan: "free" })).toEqual([first])
    expect(await found({ plan: "free" })).toEqual([second, first])
    expect(await found({ userId: "carl" })).toEqual([])
    expect((await sessions.list()).items[0]).toMatchObject({ id: third, metadata: { userId: "anna", plan: "paid" } })
  }
})

test.each(PLACES)(
  "metadata and title change beside a turn, and the title outlives the first message (%s)",
  async (_, isKept) => {
    const gate = createGate()
    const { runtime, session } = await openAgent([() => ({ gate: gate.pass(), text: "Done." }), "Hello."], { isKept })
    const sent = session.send("Bake bread.")
    await gate.reached
    const changed = await runtime.sessions.update(session.id, {
      metadata: { userId: "anna", step: "1" },
      title: "Bread",
    })
    expect(changed).toMatchObject({ id: session.id, title: "Bread", metadata: { userId: "anna", step: "1" } })
    gate.open()
    expect((await sent).outcome).toBe("completed")
    await runtime.sessions.update(session.id, { metadata: { step: null, done: "yes" } })
    await session.send("Thanks.")
    expect(await session.state()).toMatchObject({ title: "Bread", metadata: { userId: "anna", done: "yes" } })
    const firstWords = isKept ? "Bake bread." : null
    expect(await runtime.sessions.update(session.id, { title: null })).toMatchObject({ title: firstWords })
  },
)

test("metadata change while another process has the turn, and are no use of the session", async () => {
  const gate = createGate()
  const { runtime, session, folder } = await openAgent([() => ({ gate: gate.pass(), text: "Done." })], KEPT)
  const sent = session.send("Go.")
  await gate.reached
  const there = (await openScripted(createScriptedModel([]), { isKept: true, folder, takesWork: false })).runtime
  const before = (await there.sessions.list()).items[0]
  await there.sessions.update(session.id, { metadata: { userId: "anna" }, title: "Mine" })
  expect((await there.sessions.list()).items[0]).toEqual({ ...before, metadata: { userId: "anna" }, title: "Mine" })
  gate.open()
  await sent
  await runtime.sessions.update(session.id, { metadata: { plan: "free" } })
  expect((await there.sessions.list()).items[0]).toMatchObject({ metadata: { userId: "anna", plan: "free" } })
})

test("labels of a session in which nothing was said yet are written with its first message", async () => {
  const { runtime, session } = await openAgent(["Hello."], KEPT)
  await runtime.sessions.update(session.id, { metadata: { userId: "anna" }, title: "Mine" })
  expect((await runtime.sessions.list()).items).toEqual([])
  let isSent = false
  const sent = session.send("Hello.").finally(() => (isSent = true))
  const beside: Promise<unknown>[] = []
  const steps = Array.from({ length: 12 }, (_, index) => `step${index}`)
  while (!isSent) {
    const step = steps[beside.length % steps.length] ?? ""
    beside.push(runtime.sessions.update(session.id, { metadata: { [step]: "done" } }))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all([sent, ...beside])
  const metadata = Object.fromEntries(steps.slice(0, beside.length).map((step) => [step, "done"]))
  const [listed] = (await runtime.sessions.list({ metadata: { userId: "anna" } })).items
  expect(listed).toMatchObject({ id: session.id, title: "Mine", metadata: { userId: "anna", ...metadata } })
})

test("secrets in metadata and titles are stored nowhere", async () => {
  const { runtime, session } = await openAgent(["Hello.", "Hello."], {
    ...KEPT,
    session: { metadata: { note: SECRET } },
  })
  await session.send("Hello.")
  const changed = await runtime.sessions.update(session.id, {
    metadata: { other: `key ${SECRET}` },
    title: `My ${SECRET}`,
  })
  const record = await runtime.engine.store.session(session.id)
  for (const seen of [changed, record, await session.state()]) expect(JSON.stringify(seen)).not.toContain(SECRET)
  expect(record).toMatchObject({ metadata: { note: expect.any(String), other: expect.stringContaining("key ") } })
})

test.each<[string, object, string]>([
  ["a key that is empty", { "": "x" }, "metadata"],
  ["a key that is too long", { ["k".repeat(65)]: "x" }, "metadata"],
  ["a value that is no text", { userId: 7 }, "metadata.userId"],
  ["a value that is too long", { userId: "x".repeat(513) }, "metadata.userId"],
  ["a value of two lines", { userId: "one\ntwo" }, "metadata.userId"],
  ["half a character", { userId: "\ud800" }, "metadata.userId"],
  ["too many keys", Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`key${index}`, "x"])), "metadata"],
])("metadata with %s are refused before anything is written", async (_, metadata, field) => {
  const { runtime, session } = await openAgent(["Hello."], KEPT)
  await session.send("Hello.")
  const refusal = { code: "invalid_input", details: { field } }
  const given = metadata as Record<string, string>
  await expect(runtime.createSession({ metadata: given })).rejects.toMatchObject(refusal)
  await expect(runtime.sessions.update(session.id, { metadata: given })).rejects.toMatchObject(refusal)
  expect((await runtime.sessions.list()).items).toMatchObject([{ metadata: {} }])
})

test("a title that is empty or too long, a filter that is no text, and a page that is too long are refused", async () => {
  const { runtime, session } = await openAgent(["Hello."], KEPT)
  await session.send("Hello.")
  for (const title of ["", "  ", "x".repeat(201), "one\ntwo", 7 as never]) {
    const refusal = { code: "invalid_input", details: { field: "title" } }
    await expect(runtime.sessions.update(session.id, { title })).rejects.toMatchObject(refusal)
  }
  const metadata = { userId: 7 as never }
  await expect(runtime.sessions.list({ metadata })).rejects.toMatchObject({ details: { field: "metadata.userId" } })
  for (const limit of [0, 1_001, 1.5])
    await expect(runtime.sessions.list({}, { limit })).rejects.toMatchObject({ details: { field: "limit" } })
})

test("labels of an unknown session, or of one in another workspace, are refused", async () => {
  const { runtime } = await openAgent(["Hello."], KEPT)
  const other = await runtime.createSession({ workspace: "other" })
  await other.send("Hello.")
  for (const id of [createSessionId(), other.id])
    await expect(runtime.sessions.update(id, { title: "x" })).rejects.toMatchObject({ code: "not_found" })
})

test("sessions are listed page by page, and none twice while others are added", async () => {
  const { runtime } = await openAgent(
    Array.from({ length: 20 }, () => "Hello."),
    KEPT,
  )
  const add = async () => {
    const session = await runtime.createSession({ metadata: { userId: "anna" } })
    await session.send("Hello.")
    return session.id
  }
  const ids: SessionId[] = []
  for (let count = 0; count < 5; count++) ids.unshift(await add())
  for (const query of [{}, { metadata: { userId: "anna" } }]) {
    const first = await runtime.sessions.list(query, { limit: ids.length - 2 })
    ids.unshift(await add())
    const rest = await runtime.sessions.list(query, { limit: ids.length, cursor: first.cursor ?? "" })
    expect([...idsOf(first), ...idsOf(rest)]).toEqual(ids.slice(1))
    expect(rest.cursor).toBeUndefined()
  }
})

test("a list of a user's sessions reads no other user's", async () => {
  const { runtime } = await openAgent([], KEPT)
  const { store } = runtime.engine
  const workspace = "default" as WorkspaceId
  const create = (userId: string) =>
    ({ op: "session.create", id: createSessionId(), workspace, metadata: { userId }, data: {} }) as const
  await store.commit(Array.from({ length: 300 }, (_, index) => create(index % 100 === 0 ? "anna" : `user-${index}`)))
  const read = vi.spyOn(store, "sessions")
  const { items, cursor } = await runtime.sessions.list({ metadata: { userId: "anna" } }, { limit: 50 })
  expect([items.length, cursor]).toEqual([3, undefined])
  const pages = await Promise.all(read.mock.results.map(async ({ value }) => (await value) as { items: unknown[] }))
  expect(pages.map((page) => page.items.length)).toEqual([3])
})

test("a saved conversation is restored with its metadata", async () => {
  const { runtime, session } = await openAgent(["Hello."], { ...KEPT, session: { metadata: { userId: "anna" } } })
  await session.send("Hello.")
  const saved = await session.state()
  await runtime.sessions.delete(session.id)
  const id = await runtime.sessions.restore(saved)
  expect((await runtime.sessions.list({ metadata: { userId: "anna" } })).items).toMatchObject([{ id }])
})

test("a filter that sessions.list does not have is refused: it would list everybody's", async () => {
  const { runtime } = await openAgent([], KEPT)
  const misspelled: object = { metdata: { userId: "anna" } }
  await expect(runtime.sessions.list(misspelled)).rejects.toMatchObject({
    code: "invalid_input",
    message: 'sessions.list has no filter "metdata": it takes { metadata }.',
  })
})
