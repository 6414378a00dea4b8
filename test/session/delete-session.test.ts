import { expect, test } from "vitest"
import { toSaidCollection } from "../../src/session/log/settle-operations.ts"
import { TOLD_MARKS } from "../../src/session/saved/documents.ts"
import { DEFAULT_WORKSPACE } from "../../src/task/id.ts"
import { openAgent } from "../support/session/open-agent.ts"
import { createGatedTool } from "../support/tools.ts"
import { createGate } from "../support/session/gate.ts"
import { openSubagents, spawn } from "../support/session/open-subagents.ts"

test("what a conversation's subagents said goes with it, and nobody else's does", async () => {
  const main = [spawn("work"), "done", "hello"]
  const { runtime, session } = await openSubagents({ main, below: ["a secret"] })
  await session.send("go")
  const other = await runtime.createSession()
  await other.send("hi")
  const stored = () => runtime.engine.store.sessions({ workspace: DEFAULT_WORKSPACE }, { limit: 10 })
  expect((await stored()).items).toHaveLength(3)
  expect(await runtime.sessions.delete(session.id)).toBe(true)
  expect((await stored()).items.map(({ id }) => id)).toEqual([other.id])
  expect(await runtime.sessions.delete(session.id)).toBe(false)
})

test("a conversation that is deleted while its subagent works asks no model any more", async () => {
  const gate = createGate()
  const below = [() => ({ gate: gate.pass() })]
  const { runtime, session, provider } = await openSubagents({ main: [spawn("work"), "never asked for"], below })
  const sent = session.send("go")
  await gate.reached
  expect(await runtime.sessions.delete(session.id)).toBe(true)
  expect((await sent).outcome).toBe("stopped")
  expect(provider.models["main"]?.callCount).toBe(1)
  expect((await runtime.engine.store.sessions({ workspace: DEFAULT_WORKSPACE }, { limit: 10 })).items).toEqual([])
})

test("messages that an agent has not read are deleted with its conversation", async () => {
  const { runtime, session } = await openSubagents({ main: ["hello"], below: [] })
  await session.send("hi")
  const { store } = runtime.engine
  const collection = toSaidCollection(session.id)
  const unheard = { workspace: DEFAULT_WORKSPACE, collection, id: "1", value: { text: "faster" }, expectedVersion: 0 }
  await store.commit([{ op: "document.put", ...unheard }])
  await runtime.sessions.delete(session.id)
  expect(await store.documents(DEFAULT_WORKSPACE, collection)).toEqual([])
})

test("the marks of a conversation and of its subagents go with it, and no others are read", async () => {
  const { runtime, session } = await openSubagents({ main: [spawn("work"), "done"], below: ["a secret"] })
  await session.send("go")
  const { store } = runtime.engine
  const { items } = await store.sessions({ workspace: DEFAULT_WORKSPACE }, { limit: 10 })
  expect(items).toHaveLength(2)
  const mark = { op: "document.put", workspace: DEFAULT_WORKSPACE, collection: TOLD_MARKS, value: 7 } as const
  const ids = [...items.flatMap(({ id }) => [id, `${id}/mia`]), "another"]
  await store.commit(ids.map((id) => ({ ...mark, id, expectedVersion: 0 })))
  const documents = store.documents.bind(store)
  const read: string[] = []
  const watched: typeof documents = async (workspace, collection, idPrefix) => {
    const found = await documents(workspace, collection, idPrefix)
    if (collection === TOLD_MARKS) read.push(...found.map(({ id }) => id))
    return found
  }
  Object.assign(store, { documents: watched })
  await runtime.sessions.delete(session.id)
  expect(read.toSorted()).toEqual(items.map(({ id }) => `${id}/mia`).toSorted())
  expect((await documents(DEFAULT_WORKSPACE, TOLD_MARKS)).map(({ id }) => id)).toEqual(["another"])
})

test("a conversation is deleted without a look at any other session", async () => {
  const { runtime, session } = await openSubagents({ main: [spawn("work"), "done", "hello"], below: ["a secret"] })
  await session.send("go")
  const other = await runtime.createSession()
  await other.send("hi")
  const { store } = runtime.engine
  const sessions = store.sessions.bind(store)
  const read: string[] = []
  const watched: typeof sessions = async (filter, page) => {
    const found = await sessions(filter, page)
    read.push(...found.items.map(({ id }) => id))
    return found
  }
  Object.assign(store, { sessions: watched })
  await runtime.sessions.delete(session.id)
  expect(read.length).toBeGreaterThan(0)
  expect(read).not.toContain(other.id)
  expect((await sessions({ workspace: DEFAULT_WORKSPACE }, { limit: 10 })).items).toMatchObject([{ id: other.id }])
})

test("a conversation in which nothing was said yet is deleted with its tasks", async () => {
  const gated = createGatedTool({ obeys: true })
  const { runtime, session } = await openAgent(["hello"], { isKept: true, tools: [gated.tool] })
  const { id } = await runtime.tasks.start({ tool: "gated", input: {}, session: session.id })
  const { context } = await gated.call(1)
  expect(await runtime.sessions.delete(session.id)).toBe(true)
  expect(context.signal.aborted).toBe(true)
  await expect(runtime.tasks.get(id)).rejects.toMatchObject({ code: "not_found" })
  expect((await runtime.engine.store.sessions({ workspace: DEFAULT_WORKSPACE }, { limit: 10 })).items).toEqual([])
  expect(await runtime.sessions.delete(session.id)).toBe(false)
  await expect(session.send("hi")).rejects.toMatchObject({ code: "closed" })
})
