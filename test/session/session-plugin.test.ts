import { expect, test } from "vitest"
import { createEngineSessionPlugin } from "../../src/builtin/session/engine-session-plugin.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { textOf } from "../../src/plugin/message.ts"
import type { SessionPlugin } from "../../src/plugin/session-plugin.ts"
import type { SessionDirectory, SessionState } from "../../src/plugin/sessions-port.ts"
import { createSessionId } from "../../src/task/id.ts"
import { createGate } from "../support/session/gate.ts"
import { lastSaid, openAgent } from "../support/session/open-agent.ts"
import { openWithFiles, talk } from "../support/session/open-with-files.ts"

/** A plugin that remembers everything it is asked, in order. */
function createNotingPlugin(saved?: (id: SessionState["id"]) => SessionState) {
  const asked: string[] = []
  const plugin: SessionPlugin = definePlugin({
    kind: "session",
    name: "noting",
    save: async () => void asked.push("save"),
    load: async () => undefined,
    list: async () => [],
    delete: async () => false,
    setDescription: async () => {},
    needsDescription: () => false,
    onSessionStarted(id) {
      asked.push("started")
      return saved?.(id)
    },
    onTurnCompleted: ({ turns, messages }) => void asked.push(`turn ${turns} of ${messages.length} messages`),
    onSessionEnded: ({ turns }) => void asked.push(`ended after ${turns}`),
  })
  return { plugin, asked }
}

test("004-27: a session plugin is told of a session's start, of each turn and of its end", async () => {
  const { plugin, asked } = createNotingPlugin()
  const { session } = await openAgent(talk(2), { sessionPlugin: () => plugin })
  await session.send("a")
  await session.send("b")
  await session.close()
  expect(asked).toEqual(["started", "turn 1 of 2 messages", "turn 2 of 4 messages", "ended after 2"])
})

test("a session whose turn ends while the runtime drains is told to have ended, and one that is handed back is not", async () => {
  const drained = createNotingPlugin()
  const gate = createGate()
  const script = [() => ({ gate: gate.pass(), text: "one" })]
  const first = await openAgent(script, { isKept: true, sessionPlugin: () => drained.plugin })
  const sent = first.session.send("a")
  await gate.reached
  const closing = first.runtime.close({ drainMs: 60_000 })
  gate.open()
  await Promise.all([sent, closing])
  expect(drained.asked).toEqual(["started", "turn 1 of 2 messages", "ended after 1"])

  const left = createNotingPlugin()
  const shut = createGate()
  const second = await openAgent(["one", () => ({ gate: shut.pass(), text: "two" })], {
    isKept: true,
    sessionPlugin: () => left.plugin,
  })
  await second.session.send("a")
  const cutOff = second.session.send("b").catch(() => {})
  await shut.reached
  await second.runtime.close()
  await cutOff
  expect(left.asked).toEqual(["started", "turn 1 of 2 messages"])
})

test("a conversation that is restored has what plugins kept with it", async () => {
  const { runtime } = await openAgent([], { isKept: true })
  const messages = [{ role: "user", parts: [{ type: "text", text: "before" }] }] as const
  const data = { weather: { place: "Oslo" } }
  const times = { createdAt: 0, updatedAt: 0 }
  const saved = { id: createSessionId(), description: "Old.", turns: 1, model: null, messages, data, ...times }
  const id = await runtime.sessions.restore(saved)
  expect(await runtime.sessions.load(id)).toMatchObject({ description: "Old.", turns: 1, data })
})

test("a session plugin may hand back a saved conversation to go on with", async () => {
  const messages = [{ role: "user", parts: [{ type: "text", text: "before" }] }] as const
  const { plugin } = createNotingPlugin((id) => ({
    id,
    messages,
    description: "Old.",
    turns: 1,
    createdAt: 0,
    updatedAt: 0,
    model: null,
    data: {},
  }))
  const { session, model } = await openAgent(talk(1), { sessionPlugin: () => plugin })
  await session.send("now")
  expect(model.requests[0]?.messages.map(textOf)).toEqual(["before", "now"])
  expect(await session.state()).toMatchObject({ description: "Old.", turns: 2 })
})

test("004-30: a conversation is saved after so many turns, 10 unless told otherwise, and on exit", async () => {
  const { session, files } = await openWithFiles(talk(12), { gc: { strategy: "none" } })
  for (let turn = 1; turn <= 9; turn++) await session.send(`message ${turn}`)
  expect(files()).toEqual([])
  await session.send("message 10")
  expect(files()).toHaveLength(1)
  const sooner = await openWithFiles(talk(2), { sessionConfig: { checkpointAfterTurns: 1, autoSaveOnExit: false } })
  await sooner.session.send("a")
  expect(sooner.files()).toHaveLength(1)
  const atExit = await openWithFiles(talk(1))
  await atExit.session.send("a")
  await atExit.session.close()
  expect(atExit.files()).toHaveLength(1)
})

test("004-28: the model is asked for a description after 3 turns, and what it says is the session's", async () => {
  const describe = { calls: [{ tool: "session_describe", input: { description: "About bread." } }] }
  const sessionPlugin = (directory: SessionDirectory) => createEngineSessionPlugin({ directory })
  const { session, model, runtime } = await openAgent([...talk(3), describe, "Baked.", "More."], {
    isKept: true,
    sessionPlugin,
  })
  for (const message of ["a", "b", "c"]) await session.send(message)
  expect(JSON.stringify(model.requests)).not.toContain("Call session_describe once")
  await session.send("d")
  expect(lastSaid(model, 3)).toMatch(/^d\n\n.*Call session_describe once/)
  expect((await session.state()).description).toBe("About bread.")
  await session.send("e")
  expect(lastSaid(model, -1)).toBe("e")
  expect((await runtime.sessions.list()).items).toMatchObject([{ id: session.id, description: "About bread." }])
})

test("004-29: the person saves, lists, resumes and deletes conversations by commands", async () => {
  const person = { name: "test", ask: async () => ({ isAnswered: true, value: "yes", by: "test" }) as const }
  const sessionPlugin = (directory: SessionDirectory) => createEngineSessionPlugin({ directory })
  const { runtime, session } = await openAgent(talk(3), { isKept: true, sessionPlugin, person })
  const other = await runtime.createSession()
  await session.send("first")
  await other.send("second")
  expect(await session.runCommand("save")).toContain(`Saved as ${session.id}`)
  expect(await session.runCommand("sessions")).toContain(other.id.slice(0, 8))
  const switched: string[] = []
  await session.runCommand("resume", other.id, { switchTo: async (id) => void switched.push(id) })
  expect(switched).toEqual([other.id])
  expect(await session.runCommand("delete-session", other.id)).toBe(`Deleted ${other.id}.`)
  expect((await runtime.sessions.list()).items.map(({ id }) => id)).toEqual([session.id])
})

test("a session plugin that throws costs nobody a turn", async () => {
  const { plugin } = createNotingPlugin()
  const broken = {
    ...plugin,
    onTurnCompleted: () => Promise.reject(new Error("disk")),
    onSessionStarted: () => {
      throw new Error("no")
    },
  }
  const { session } = await openAgent(talk(1), { sessionPlugin: () => broken })
  expect((await session.send("a")).text).toBe("answer 1")
})
