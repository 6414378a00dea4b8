import { expect, test } from "vitest"
import { z } from "zod"
import { LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import { callsOf, type Message, textOf } from "../../src/plugin/message.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { createSessionId } from "../../src/task/id.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { openAgent, type OpenAgent, openScripted } from "../support/session/open-agent.ts"
import { createGatedTool, echo } from "../support/tools.ts"

const KEPT = { isKept: true } as const

const echoing = (value: string) => ({ calls: [{ tool: "echo", input: { value } }] })

const wordsOf = (messages: readonly Message[]) => messages.map((message) => `${message.role}: ${textOf(message)}`)

async function placeOf({ runtime, session }: OpenAgent, words: string): Promise<number> {
  const { items } = await runtime.desk(LOCAL_PERSON).sessions.messages(session.id, { after: 0, limit: 100 })
  return items.find(({ text }) => text === words)?.position ?? Number.NaN
}

test("a fork has the past up to its message, and both conversations go their own way", async () => {
  const agent = await openAgent(["One.", "Two.", "Three.", "Here.", "There."], {
    ...KEPT,
    session: { name: "cook", instructions: "Be brief.", tools: [], metadata: { userId: "anna" } },
  })
  const { runtime, session, model } = agent
  for (const words of ["first", "second", "third"]) await session.send(words)
  await runtime.sessions.update(session.id, { title: "Bread" })
  const fork = await runtime.sessions.fork(session.id, { at: await placeOf(agent, "Two.") })
  expect(fork).toMatchObject({
    name: "cook",
    title: "Bread",
    turns: 2,
    metadata: { userId: "anna", forkedFrom: session.id },
  })
  const forked = await runtime.openSession(fork.id)
  expect(wordsOf(forked.history())).toEqual(["user: first", "assistant: One.", "user: second", "assistant: Two."])
  await session.send("here")
  await forked.send("there")
  expect(wordsOf(forked.history()).slice(4)).toEqual(["user: there", "assistant: There."])
  expect(wordsOf(session.history())).toHaveLength(8)
  expect(model.requests.at(-1)).toMatchObject({ system: expect.stringContaining("Be brief.") })
  const { items } = await runtime.desk(LOCAL_PERSON).sessions.messages(fork.id, { after: 0, limit: 100 })
  expect(items.map(({ text }) => text)).toEqual(["first", "One.", "second", "Two.", "there", "There."])
  expect((await runtime.sessions.list({ metadata: { forkedFrom: session.id } })).items).toMatchObject([{ id: fork.id }])
})

test("a fork has the tools by name, and none that are the first conversation's own", async () => {
  const agent = await openAgent(["One.", "Two."], { ...KEPT, tools: [echo] })
  const own = defineTool({ name: "own", description: "Does it.", input: z.object({}), run: () => "mine" })
  const session = await agent.runtime.createSession({ tools: ["echo", own] })
  await session.send("first")
  const fork = await agent.runtime.openSession((await agent.runtime.sessions.fork(session.id)).id)
  expect(session.tools().map(({ name }) => name)).toEqual(["echo", "own"])
  expect(fork.tools().map(({ name }) => name)).toEqual(["echo"])
})

test("a fork in the middle of a tool call ends before the call, and one after the results has both", async () => {
  const agent = await openAgent([echoing("one"), "Done."], { ...KEPT, tools: [echo] })
  const { runtime, session } = agent
  await session.send("go")
  const stored = await runtime.engine.store.messages(session.id, 0, 100)
  const rolesAt = async (at: number) => {
    const { id } = await runtime.sessions.fork(session.id, { at })
    const history = (await runtime.sessions.load(id))?.messages ?? []
    const last = history.at(-1)
    expect(last?.role === "assistant" ? callsOf(last) : []).toEqual([])
    return history.map(({ role }) => role)
  }
  expect(await Promise.all(stored.map(({ position }) => rolesAt(position)))).toEqual([
    ["user"],
    ["user"],
    ["user", "assistant", "tool"],
    ["user", "assistant", "tool", "assistant"],
  ])
})

test("a session with a turn under way is forked at its last whole message, and its turn goes on", async () => {
  const gated = createGatedTool({ obeys: true })
  const script = ["One.", { calls: [{ tool: "gated", input: {} }] }, "Two.", "Forked."]
  const { runtime, session } = await openAgent(script, { ...KEPT, tools: [gated.tool] })
  await session.send("first")
  const sent = session.send("second")
  const call = await gated.call(1)
  const fork = await runtime.sessions.fork(session.id)
  expect(wordsOf((await runtime.sessions.load(fork.id))?.messages ?? [])).toEqual([
    "user: first",
    "assistant: One.",
    "user: second",
  ])
  call.finish()
  expect((await sent).text).toBe("Two.")
  const forked = await runtime.openSession(fork.id)
  expect((await forked.send("third")).text).toBe("Forked.")
})

/** Keeps only the last message. */
const forgetful = definePlugin({
  kind: "gc",
  name: "forgetful",
  shouldCollect: () => ({ isDue: false }),
  collect: (messages) => ({ messages: messages.slice(-1), removedMessages: messages.length - 1, summary: "Forgot." }),
})

test("a fork before a collection has the messages that were collected, and one after it what came of them", async () => {
  const agent = await openAgent(["One.", "Two.", "Three.", "Four."], KEPT)
  const { runtime, session } = agent
  session.setGc(forgetful)
  for (const words of ["first", "second", "third"]) await session.send(words)
  await session.collect()
  const collected = wordsOf(session.history())
  expect(collected.join()).not.toContain("first")
  await session.send("fourth")
  const forkAt = async (words: string) => {
    const { id } = await runtime.sessions.fork(session.id, { at: await placeOf(agent, words) })
    return wordsOf((await runtime.openSession(id)).history())
  }
  expect(await forkAt("Two.")).toEqual(["user: first", "assistant: One.", "user: second", "assistant: Two."])
  expect(await forkAt("Four.")).toEqual([...collected, "user: fourth", "assistant: Four."])
})

test("a fork after a reset begins anew there, and one before it has the past", async () => {
  const agent = await openAgent(["One.", "Two.", "Three."], KEPT)
  const { runtime, session } = agent
  await session.send("first")
  await session.reset()
  await session.send("second")
  const forkAt = async (words: string) => {
    const { id } = await runtime.sessions.fork(session.id, { at: await placeOf(agent, words) })
    const forked = await runtime.openSession(id)
    return { words: wordsOf(forked.history()), turns: forked.contextUsage().turns }
  }
  expect(await forkAt("One.")).toEqual({ words: ["user: first", "assistant: One."], turns: 1 })
  expect(await forkAt("Two.")).toEqual({ words: ["user: second", "assistant: Two."], turns: 1 })
})

test("a fork has no tasks and no results, and keeps what plugins keep of the conversation", async () => {
  const note = defineTool({
    name: "note",
    description: "Notes a word.",
    input: z.object({ word: z.string() }),
    run: async ({ word }, { documents }) => documents.change("words", () => [word]),
  })
  const script = [{ calls: [{ tool: "note", input: { word: "rye" } }] }, "Noted.", "Hello."]
  const { runtime, session, model } = await openAgent(script, { ...KEPT, tools: [note, echo] })
  await session.send("note rye")
  const { id: task } = await runtime.tasks.start({ tool: "echo", input: { value: "unread" }, session: session.id })
  await runtime.tasks.result(task, { waitMs: 20_000 })
  const fork = await runtime.sessions.fork(session.id)
  const forked = await runtime.openSession(fork.id)
  expect(await forked.state()).toMatchObject({ documents: { test: { words: ["rye"] } } })
  expect((await runtime.tasks.list({ session: fork.id })).items).toEqual([])
  await forked.send("hi")
  expect(JSON.stringify(model.requests.at(-1)?.messages.at(-1))).not.toContain("unread")
  expect((await session.state()).backgroundResults).toHaveProperty(task)
})

test("what a conversation cost is counted once, however often it is forked", async () => {
  const { runtime, session } = await openAgent(["One.", "Two."], KEPT)
  await session.send("first")
  const before = await runtime.ledgerTotals("model")
  const fork = await runtime.sessions.fork(session.id)
  expect(await runtime.ledgerTotals("model")).toEqual(before)
  await (await runtime.openSession(fork.id)).send("second")
  expect(await runtime.ledgerTotals("model", { session: fork.id })).toMatchObject([{ total: { calls: 1 } }])
})

test("a fork of a fork has the whole past, and a deleted source takes nothing from it", async () => {
  const { runtime, session } = await openAgent(["One.", "Two."], KEPT)
  await session.send("first")
  const fork = await runtime.sessions.fork(session.id)
  await (await runtime.openSession(fork.id)).send("second")
  const again = await runtime.sessions.fork(fork.id)
  await runtime.sessions.delete(session.id)
  await runtime.sessions.delete(fork.id)
  expect(again.metadata).toEqual({ forkedFrom: fork.id })
  const words = wordsOf((await runtime.sessions.load(again.id))?.messages ?? [])
  expect(words).toEqual(["user: first", "assistant: One.", "user: second", "assistant: Two."])
})

test("a fork is one commit: a refused one leaves nothing, and the whole one is there for every process", async () => {
  const { runtime, session, folder } = await openAgent(["One."], KEPT)
  await session.send("first")
  const { store } = runtime.engine
  const commits: string[][] = []
  const original = store.commit.bind(store)
  let isFull = true
  const refusing: typeof store.commit = (operations, options) => {
    commits.push(operations.map(({ op }) => op))
    if (isFull) return Promise.reject(new Error("no"))
    return original(operations, options)
  }
  Object.assign(store, { commit: refusing })
  await expect(runtime.sessions.fork(session.id)).rejects.toThrow()
  expect((await runtime.sessions.list()).items).toMatchObject([{ id: session.id }])
  isFull = false
  commits.length = 0
  const { id } = await runtime.sessions.fork(session.id)
  expect(commits).toEqual([["session.create"]])
  const there = await openScripted(createScriptedModel([]), { isKept: true, folder, takesWork: false })
  expect((await there.runtime.sessions.load(id))?.messages).toHaveLength(2)
})

test("a fork of an unknown session, of one in another workspace, or at no place of its log is refused", async () => {
  const { runtime, session } = await openAgent(["One.", "Two."], KEPT)
  const other = await runtime.createSession({ workspace: "other" })
  await other.send("first")
  await session.send("first")
  for (const id of [createSessionId(), other.id])
    await expect(runtime.sessions.fork(id)).rejects.toMatchObject({ code: "not_found" })
  for (const at of [0, -1, 1.5, 3, Number.NaN])
    await expect(runtime.sessions.fork(session.id, { at })).rejects.toMatchObject({ details: { field: "at" } })
})
