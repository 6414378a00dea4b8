import { expect, test, vi } from "vitest"
import { z } from "zod"
import { toErrorMessage } from "../../src/base/error.ts"
import { LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { createGroupId, createSessionId, type SessionId, type WorkspaceId } from "../../src/task/id.ts"
import type { SessionOptions } from "../../src/session/conversation/session.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { openAgent, openScripted, PLACES } from "../support/session/open-agent.ts"

const OTHER = "other" as WorkspaceId

test.each(PLACES)("a session cannot be reached from another workspace by any name (%s)", async (_, isKept) => {
  const { runtime, session } = await openAgent(["one"], { isKept })
  await session.send("between us")
  const { id } = session
  await expect(runtime.openSession(id, OTHER)).rejects.toMatchObject({ code: "not_found" })
  await expect(runtime.createSession({ id, workspace: OTHER })).rejects.toMatchObject({ code: "invalid_input" })
  await session.close()
  const made = await runtime.createSession({ id, workspace: OTHER })
  expect(made.history()).toEqual([])
  if (isKept) await expect(made.send("what was said?")).rejects.toMatchObject({ code: "not_found" })
})

/** Tells what was said in the session of its call, or calls itself in the session that it is given. */
const peek = defineTool({
  name: "peek",
  description: "Reads the conversation.",
  input: z.object({ session: z.string().optional() }),
  background: { mode: "on_request" },
  async run({ session }, { sessions, tasks }) {
    if (session === undefined) return sessions.handOver("full")
    const call = { tool: "peek", input: {}, session: session as SessionId }
    return tasks.execute(call).answer.then(({ outcome }) => outcome, toErrorMessage)
  },
})

test.each(PLACES)("a call in the foreground is refused in a session of another workspace (%s)", async (_, isKept) => {
  const { runtime, session, folder } = await openAgent(["one"], { isKept, tools: [peek] })
  await session.send("between us")
  const call = { tool: "peek", input: {}, session: session.id }
  const elsewhere = isKept
    ? [(await openScripted(createScriptedModel([]), { isKept, folder, tools: [peek] })).runtime]
    : []
  for (const at of [runtime, ...elsewhere]) {
    const foreign = at.desk({ workspace: OTHER, actor: "mallory" }).tasks
    const refusal = { code: "not_found", details: { session: session.id } }
    await expect(foreign.execute(call, {}).answer).rejects.toMatchObject(refusal)
    await expect(foreign.start(call)).rejects.toMatchObject({ code: "not_found" })
    const passedOn = await foreign.execute({ tool: "peek", input: { session: session.id } }, {}).answer
    expect(passedOn).toMatchObject({ patch: { payload: expect.stringContaining("There is no session") } })
    const own = await at.desk(LOCAL_PERSON).tasks.execute(call, {}).answer
    expect(own).toMatchObject({ patch: { payload: expect.stringContaining("between us") } })
  }
})

test("a call in the foreground is refused in a group of another workspace, or of none", async () => {
  const { runtime } = await openAgent([], { tools: [peek] })
  const { id } = await runtime.tasks.groups.open({ name: "checks", workspace: OTHER })
  const { tasks } = runtime.desk(LOCAL_PERSON)
  for (const group of [id, createGroupId()]) {
    const refused = tasks.execute({ tool: "peek", input: {}, group }, {}).answer
    await expect(refused).rejects.toMatchObject({ code: "not_found", details: { group } })
  }
  const there = runtime.desk({ workspace: OTHER, actor: "ada" }).tasks
  const call = { tool: "peek", input: { session: createSessionId() }, group: id }
  expect(await there.execute(call, {}).answer).toMatchObject({ outcome: "completed" })
})

test("a turn reads its session as often with calls as without", async () => {
  const script = [{ calls: [{ tool: "peek", input: {} }] }, "Done."]
  const { runtime, session } = await openAgent(["One.", "Two.", ...script], { isKept: true, tools: [peek] })
  await session.send("First.")
  const reads = vi.spyOn(runtime.engine.store, "session")
  await session.send("Second.")
  const withoutCalls = reads.mock.calls.length
  await session.send("Go.")
  expect(reads).toHaveBeenCalledTimes(2 * withoutCalls)
})

test.each<[string, SessionOptions]>([
  ["an empty id", { id: "" }],
  ["an id with U+0000", { id: "\u0000" }],
  ["an id of two lines", { id: "one\ntwo" }],
  ["an id with half a character", { id: "\ud800" }],
  ["an id that is too long", { id: "x".repeat(513) }],
  ["an id that is no text", { id: 5 as unknown as SessionId }],
  ["an empty workspace", { workspace: "" }],
])("a session with %s is refused before anything is written, and the runtime closes", async (_, options) => {
  const { runtime } = await openAgent([], { isKept: true })
  await expect(runtime.createSession(options)).rejects.toMatchObject({ code: "invalid_input" })
  expect(await runtime.sessions.list()).toEqual({ items: [] })
  await runtime.close()
})
