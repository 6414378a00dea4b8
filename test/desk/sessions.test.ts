import { expect, test } from "vitest"
import { LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import { createSessionId, type SessionId } from "../../src/task/id.ts"
import { asker, NAME } from "../support/asking.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { eventually } from "../support/eventually.ts"
import { createGate } from "../support/session/gate.ts"
import { openAgent, openScripted } from "../support/session/open-agent.ts"
import { openSubagents } from "../support/session/open-subagents.ts"
import { startAgent } from "../support/session/start-agent.ts"
import { testOfFile } from "../support/test-engine.ts"
import { createGatedTool } from "../support/tools.ts"

test("a session is working while its turn runs, and says in which process; then it is idle", async () => {
  const gate = createGate()
  const here = await openAgent([() => ({ gate: gate.pass(), text: "Done." })], { isKept: true })
  const sent = here.session.send("Go.")
  await gate.reached
  const desk = here.runtime.desk(LOCAL_PERSON)
  expect(await desk.sessions.find(here.session.id)).toMatchObject({
    id: here.session.id,
    state: "working",
    turn: { status: "running", where: "here" },
  })
  const there = await openScripted(createScriptedModel([]), { isKept: true, folder: here.folder, takesWork: false })
  const [seen] = await there.runtime.desk(LOCAL_PERSON).sessions.list(10)
  expect(seen).toMatchObject({ state: "working", turn: { status: "running", where: "elsewhere" } })
  gate.open()
  await sent
  expect(await desk.sessions.find(here.session.id.slice(0, 8))).toMatchObject({ state: "idle", turn: null })
})

test("a session needs a person while an approval of it waits in the inbox, and no longer once it was answered", async () => {
  const gated = createGatedTool({ obeys: true, background: { mode: "always" } })
  const script = [{ calls: [{ tool: "gated", input: { name: "one" } }] }, "It waits for you.", "It was done."]
  const { runtime, session } = await openAgent(script, {
    isKept: true,
    tools: [gated.tool],
    permissions: { rules: [{ tool: "gated", decision: "ask" }] },
  })
  await session.send("Do it.")
  const other = await runtime.createSession()
  const desk = runtime.desk(LOCAL_PERSON)
  const [item] = await desk.inbox.list()
  expect(await desk.sessions.find(session.id)).toMatchObject({ state: "needs_you", turn: null })
  expect((await desk.sessions.list(10)).find(({ id }) => id === other.id)?.state ?? "idle").toBe("idle")
  await desk.inbox.answer(item?.id ?? "", true)
  expect((await desk.sessions.find(session.id)).state).not.toBe("needs_you")
  ;(await gated.call(1)).finish()
})

test("a session needs a person also while its turn goes on", async () => {
  const gate = createGate()
  const gated = createGatedTool({ obeys: true, background: { mode: "always" } })
  const calling = { calls: [{ tool: "gated", input: { name: "one" } }] }
  const { runtime, session } = await openAgent([calling, () => ({ gate: gate.pass(), text: "It waits for you." })], {
    isKept: true,
    tools: [gated.tool],
    permissions: { rules: [{ tool: "gated", decision: "ask" }] },
  })
  const sent = session.send("Do it.")
  await gate.reached
  const seen = await runtime.desk(LOCAL_PERSON).sessions.find(session.id)
  expect(seen).toMatchObject({ state: "needs_you", turn: { status: "running" } })
  gate.open()
  await sent
})

test("a session needs a person while an agent below it asks one", async () => {
  const asking = { calls: [{ tool: "asker", input: { questions: [{ ...NAME }] } }] }
  const opened = await openSubagents({ main: ["Hello."], below: [asking, "It is asked."], tools: [asker] })
  const { runtime, session } = opened
  await session.send("Hello.")
  const desk = runtime.desk(LOCAL_PERSON)
  expect((await desk.sessions.find(session.id)).state).toBe("idle")
  await startAgent(opened)
  const item = await eventually("it asks", async () => (await desk.inbox.list())[0])
  expect(item.task.session).not.toBe(session.id)
  expect(await desk.sessions.find(session.id)).toMatchObject({ state: "needs_you", turn: null })
})

test("an unknown id of a session, or a prefix of several ids, is refused", async () => {
  const { runtime, session } = await openAgent(["Hello.", "Hello."], { isKept: true })
  const { sessions } = runtime.desk(LOCAL_PERSON)
  const unknown = createSessionId()
  await expect(sessions.find(unknown)).rejects.toMatchObject({ code: "not_found", details: { session: unknown } })
  await expect(sessions.find("")).rejects.toMatchObject({ code: "not_found" })
  const id = `${session.id.slice(0, -1)}${session.id.endsWith("0") ? "1" : "0"}` as SessionId
  const other = await runtime.createSession({ id })
  await session.send("Hello.")
  await expect(sessions.find("")).rejects.toMatchObject({ code: "not_found" })
  await other.send("Hello.")
  await expect(sessions.find(id.slice(0, 8))).rejects.toMatchObject({ code: "ambiguous_id" })
  await expect(sessions.find("")).rejects.toMatchObject({ code: "not_found" })
  expect([await sessions.isKept(session.id), await sessions.isKept(unknown)]).toEqual([true, false])
})

// Only on a file: a hundred turns take long on a server, and the same directory lists them.
testOfFile("a session is found however many were used since", async () => {
  const count = 110
  const { runtime, session } = await openAgent(
    Array.from({ length: count }, () => "Hello."),
    { isKept: true },
  )
  await session.send("Hello.")
  for (let made = 1; made < count; made++) await (await runtime.createSession()).send("Hello.")
  expect((await runtime.desk(LOCAL_PERSON).sessions.find(session.id)).id).toBe(session.id)
})

test("messages are read page by page with a cursor, and the last cursor finds messages that come later", async () => {
  const { runtime, session } = await openAgent(["One.", "Two.", "Three."], { isKept: true })
  await session.send("First.")
  await session.send("Second.")
  const { sessions } = runtime.desk(LOCAL_PERSON)
  const texts: string[] = []
  let after = 0
  for (;;) {
    const { items, cursor } = await sessions.messages(session.id, { after, limit: 1 })
    if (cursor === after) break
    texts.push(...items.map(({ by, text }) => `${by}: ${text}`))
    after = cursor
  }
  expect(texts).toEqual(["person: First.", "agent: One.", "person: Second.", "agent: Two."])
  expect(await sessions.messages(session.id, { after, limit: 10 })).toEqual({ items: [], cursor: after })
  await session.send("Third.")
  const { items } = await sessions.messages(session.id, { after, limit: 10 })
  expect(items.map(({ text }) => text)).toEqual(["Third.", "Three."])
})

test("a session of another workspace has no messages here, and is not kept here", async () => {
  const { runtime, session } = await openAgent(["One."], { isKept: true })
  await session.send("First.")
  const foreign = runtime.desk({ workspace: "others", actor: "mallory" }).sessions
  expect(await foreign.isKept(session.id)).toBe(false)
  expect(await foreign.messages(session.id, { after: 0, limit: 10 })).toEqual({ items: [], cursor: 0 })
  await expect(foreign.find(session.id)).rejects.toMatchObject({ code: "not_found" })
  const stop = new AbortController()
  const next = foreign.follow(session.id, 0, stop.signal).next()
  stop.abort()
  expect(await next).toEqual({ done: true, value: undefined })
})

test("messages that another runtime stores in the same session are followed, each once and in order", async () => {
  const { runtime, session, folder } = await openAgent(["One."], { isKept: true })
  await session.send("First.")
  const other = await openScripted(createScriptedModel(["Two.", "Three."]), { isKept: true, folder })
  const leaving = new AbortController()
  const texts: string[] = []
  const followed = (async () => {
    const { sessions } = runtime.desk(LOCAL_PERSON)
    for await (const { text } of sessions.follow(session.id, 0, leaving.signal)) texts.push(text)
  })()
  await eventually("what was said before is followed", () => texts.length === 2)
  const there = await other.runtime.openSession(session.id)
  await there.send("Second.")
  await there.send("Third.")
  await eventually("what is said there is followed", () => texts.length === 6)
  leaving.abort()
  await followed
  expect(texts).toEqual(["First.", "One.", "Second.", "Two.", "Third.", "Three."])
})

test.each([0, -1, 1.5, Number.NaN])("a page of %d messages, events or sessions is refused", async (limit) => {
  const { runtime, session } = await openAgent(["One."], { isKept: true })
  await session.send("First.")
  const { sessions, tasks } = runtime.desk(LOCAL_PERSON)
  const [turn] = (await tasks.list({}, { limit: 1 })).items
  const refusal = { code: "invalid_input", message: expect.stringContaining("Ask for 1 or more.") }
  await expect(sessions.messages(session.id, { after: 0, limit })).rejects.toMatchObject(refusal)
  await expect(tasks.events(turn?.id ?? "", 0, limit)).rejects.toMatchObject(refusal)
  await expect(sessions.list(limit)).rejects.toMatchObject(refusal)
})

test("a page of messages or events may be larger than what there is, and its cursor must be a number", async () => {
  const { runtime, session } = await openAgent(["One."], { isKept: true })
  await session.send("First.")
  const { sessions, tasks } = runtime.desk(LOCAL_PERSON)
  const [turn] = (await tasks.list({}, { limit: 1 })).items
  expect((await sessions.messages(session.id, { after: 0, limit: 1e9 })).items).toHaveLength(2)
  expect((await tasks.events(turn?.id ?? "", 0, 1e9)).length).toBeGreaterThan(1)
  const refusal = { code: "invalid_input", message: expect.stringContaining("not a cursor") }
  await expect(sessions.messages(session.id, { after: Number.NaN, limit: 1 })).rejects.toMatchObject(refusal)
  await expect(tasks.events(turn?.id ?? "", Number.NaN, 1)).rejects.toMatchObject(refusal)
})

test("a runtime that keeps nothing has no conversations to list", async () => {
  const { runtime, session } = await openAgent(["One."])
  await session.send("First.")
  const { sessions } = runtime.desk(LOCAL_PERSON)
  expect(await sessions.list(10)).toEqual([])
  expect(await sessions.messages(session.id, { after: 0, limit: 10 })).toEqual({ items: [], cursor: 0 })
})
