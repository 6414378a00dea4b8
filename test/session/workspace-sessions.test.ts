import { expect, test } from "vitest"
import { z } from "zod"
import type { RuntimeOptions } from "../../src/app.ts"
import { createEngineSessionPlugin } from "../../src/builtin/session/engine-session-plugin.ts"
import { createFileSessionPlugin } from "../../src/builtin/session/file-session-plugin.ts"
import type { PersonChannel } from "../../src/plugin/person-port.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import type { SessionDirectory } from "../../src/plugin/sessions-port.ts"
import type { SessionId, WorkspaceId } from "../../src/task/id.ts"
import { openAgent } from "../support/session/open-agent.ts"
import { createFolder } from "../support/workplace.ts"

const ACME = "acme" as WorkspaceId
const KEPT = { isKept: true } as const

const yes: PersonChannel = { name: "me", ask: async () => ({ isAnswered: true, value: "yes", by: "me" }) as const }

async function openBoth(sessionPlugin: NonNullable<RuntimeOptions["sessionPlugin"]>) {
  const script = Array.from({ length: 10 }, () => "Hello.")
  const { runtime, session } = await openAgent(script, { ...KEPT, sessionPlugin, person: yes })
  await session.send("between us")
  const talk = async (words: string) => {
    const there = await runtime.createSession({ workspace: ACME })
    await there.send(words)
    return there
  }
  return { runtime, session, here: await talk("first"), other: await talk("second") }
}

test("the session commands of a workspace list, open and delete its conversations, and no others", async () => {
  const { runtime, session, here, other } = await openBoth((directory) => createEngineSessionPlugin({ directory }))
  const shown = await here.runCommand("sessions")
  for (const { id } of [here, other]) expect(shown).toContain(id.slice(0, 8))
  expect(shown).not.toContain(session.id.slice(0, 8))
  const switched: SessionId[] = []
  const switchTo = async (id: SessionId) => void switched.push(id)
  await here.runCommand("resume", other.id, { switchTo })
  expect(switched).toEqual([other.id])
  await expect(here.runCommand("resume", session.id, { switchTo })).rejects.toMatchObject({ code: "not_found" })
  await expect(here.runCommand("delete-session", session.id)).rejects.toMatchObject({ code: "not_found" })
  expect(await here.runCommand("delete-session", other.id)).toBe(`Deleted ${other.id}.`)
  expect((await runtime.sessions.in(ACME).list()).items.map(({ id }) => id)).toEqual([here.id])
  expect((await runtime.sessions.list()).items.map(({ id }) => id)).toEqual([session.id])
  expect(await session.runCommand("sessions")).toContain(session.id.slice(0, 8))
})

test("a model describes a conversation of its own workspace", async () => {
  const describing = { calls: [{ tool: "session_describe", input: { description: "About bread" } }] }
  const sessionPlugin = (directory: SessionDirectory) => createEngineSessionPlugin({ directory })
  const { runtime, session } = await openAgent([describing, "Done."], {
    ...KEPT,
    sessionPlugin,
    session: { workspace: ACME },
  })
  await session.send("Bread?")
  const { items } = await runtime.sessions.in(ACME).list()
  expect(items).toMatchObject([{ id: session.id, workspace: ACME, description: "About bread" }])
})

test("files of a workspace's conversations are listed, opened and deleted there alone", async () => {
  const workingDirectory = createFolder()
  const { runtime, session, here, other } = await openBoth((directory) =>
    createFileSessionPlugin({ directory, workingDirectory }),
  )
  for (const one of [session, here, other]) await one.runCommand("save")
  const shown = await here.runCommand("sessions")
  for (const { id } of [here, other]) expect(shown).toContain(id.slice(0, 8))
  expect(shown).not.toContain(session.id.slice(0, 8))
  await runtime.sessions.in(ACME).delete(other.id)
  const switched: SessionId[] = []
  await here.runCommand("resume", other.id, { switchTo: async (id) => void switched.push(id) })
  expect(switched).toEqual([other.id])
  expect(await runtime.sessions.in(ACME).load(other.id)).toMatchObject({ workspace: ACME })
  expect(await here.runCommand("delete-session", other.id)).toBe(`Deleted ${other.id}.`)
  expect(await here.runCommand("sessions")).not.toContain(other.id.slice(0, 8))
  await expect(here.runCommand("delete-session", session.id)).rejects.toMatchObject({ code: "not_found" })
})

test("a tool's directory lists, loads, changes, forks and deletes in the workspace of its call", async () => {
  const seen: unknown[] = []
  const tidy = defineTool({
    name: "tidy",
    description: "Looks at the conversations.",
    input: z.object({ id: z.string() }),
    async run({ id }, { sessions: { directory } }) {
      const { items } = await directory.list()
      const foreign = id as SessionId
      seen.push(directory.workspace, items.length, await directory.load(foreign), await directory.delete(foreign))
      await expect(directory.fork(foreign)).rejects.toMatchObject({ code: "not_found" })
      await expect(directory.update(foreign, { title: "x" })).rejects.toMatchObject({ code: "not_found" })
      return "seen"
    },
  })
  const { runtime, session } = await openAgent(["One."], { ...KEPT, tools: [tidy] })
  await session.send("between us")
  const { outcome } = await runtime.tasks.execute({ tool: "tidy", input: { id: session.id }, workspace: ACME }).answer
  expect([outcome, ...seen]).toEqual(["completed", ACME, 0, undefined, false])
  expect((await runtime.sessions.list()).items).toMatchObject([{ id: session.id, title: "between us" }])
})
