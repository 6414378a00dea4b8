import { describe, expect, test } from "vitest"
import { isMeanwhileError } from "../../src/base/error.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { echo } from "../support/tools.ts"
import { openAgent, openScripted, PLACES } from "../support/session/open-agent.ts"
import { createGatedTool } from "../support/tools.ts"
import type { Runtime } from "../../src/app.ts"
import type { Session } from "../../src/session/conversation/session.ts"

test.each(PLACES)("every id may be a plain string, as it comes from a URL or a form (%s)", async (_, isKept) => {
  const gated = createGatedTool({ obeys: true, effects: ["delete"] })
  const { runtime, session: first } = await openAgent(["one", "two"], {
    isKept,
    tools: [echo, gated.tool],
    permissions: {},
  })
  const [id, workspace]: [string, string] = [first.id, first.workspace]
  const session = await runtime.openSession(id, workspace)
  const turn: string = (await session.send("a")).turn
  const child = await runtime.createSession({ id: "a-child", workspace, parent: id })
  expect([child.id, child.parent]).toEqual(["a-child", id])
  const group = await runtime.tasks.groups.open({ name: "both", workspace, session: id })
  const groupId: string = group.id
  const call = { tool: "echo", input: {}, workspace, session: id, group: groupId, parentMessage: "m1" }
  const task: string = (await runtime.tasks.start(call)).id
  expect((await runtime.tasks.result(task, { waitMs: 30_000, consume: true }, workspace)).task.status).toBe("completed")
  const { id: below } = await runtime.tasks.start({ ...call, parentTask: task })
  await runtime.tasks.result(below, { waitMs: 30_000 }, workspace)
  const asked = await runtime.tasks.start({ tool: "gated", input: {}, session: id, workspace })
  if (asked.status !== "waiting") throw new Error("Nobody is asked.")
  const waitId: string = asked.wait.id
  expect((await runtime.tasks.answer(waitId, "no", "me", workspace)).status).toBe("cancelled")
  expect((await runtime.tasks.list({ workspace, session: id, group: groupId })).items).toHaveLength(2)
  expect((await runtime.tasks.list({ workspace, parentTask: task })).items).toHaveLength(1)
  expect((await runtime.tasks.counts({ workspace })).byStatus.completed).toBeGreaterThan(1)
  expect((await runtime.tasks.groups.seal(groupId, { workspace, session: id })).id).toBe(groupId)
  expect((await runtime.tasks.groups.list({ workspace, session: id })).map((one) => one.id)).toEqual([groupId])
  expect(await session.trajectory.markConsumed([below])).toBe(1)
  expect(runtime.ledger.total({ turn, session: id }).calls).toBe(1)
  expect(await runtime.sessions.load(id)).toMatchObject({ id })
  const desk = runtime.desk({ workspace, actor: "me" })
  expect(await desk.sessions.isKept(id)).toBe(isKept)
  expect(await desk.inbox.inSession(id)).toEqual([])
  expect((await desk.tasks.list({ session: id, statuses: "ended" }, { limit: 9 })).items.length).toBeGreaterThan(1)
  await runtime.sessions.describe(id, "a talk")
  expect(await runtime.sessions.delete(id)).toBe(isKept)
})

/** No store has such an id. */
const NONSENSE: readonly unknown[] = ["", "a\0b", "\ud800", "x".repeat(5_000), 42, null, {}, Symbol("id")]

type Reading = (given: { readonly runtime: Runtime; readonly session: Session; readonly id: never }) => unknown

const READINGS: Readonly<Record<string, Reading>> = {
  "openSession's": ({ runtime, id }) => runtime.openSession(id),
  "openSession's workspace": ({ runtime, session, id }) => runtime.openSession(session.id, id),
  "createSession's": ({ runtime, id }) => runtime.createSession({ id }),
  "createSession's workspace": ({ runtime, id }) => runtime.createSession({ workspace: id }),
  "tasks.get's": ({ runtime, id }) => runtime.tasks.get(id),
  "tasks.get's workspace": ({ runtime, session, id }) => runtime.tasks.get(session.id, id),
  "tasks.result's": ({ runtime, id }) => runtime.tasks.result(id),
  "tasks.events's": ({ runtime, id }) => runtime.tasks.events(id).next(),
  "tasks.cancel's": ({ runtime, id }) => runtime.tasks.cancel(id),
  "tasks.retry's": ({ runtime, id }) => runtime.tasks.retry(id),
  "tasks.resume's": ({ runtime, id }) => runtime.tasks.resume(id, "more"),
  "tasks.say's": ({ runtime, id }) => runtime.tasks.say(id, "hm"),
  "tasks.output's": ({ runtime, id }) => runtime.tasks.output(id),
  "tasks.remove's": ({ runtime, id }) => runtime.tasks.remove(id),
  "tasks.artifact's": ({ runtime, id }) => runtime.tasks.artifact(id),
  "tasks.waitFor's": ({ runtime, id }) => runtime.tasks.waitFor({ tasks: [id], limitMs: 1 }),
  "tasks.waitFor's group": ({ runtime, id }) => runtime.tasks.waitFor({ group: id, limitMs: 1 }),
  "tasks.answer's": ({ runtime, id }) => runtime.tasks.answer(id, "yes"),
  "tasks.start's session": ({ runtime, id }) => runtime.tasks.start({ tool: "echo", input: {}, session: id }),
  "tasks.start's parent": ({ runtime, id }) => runtime.tasks.start({ tool: "echo", input: {}, parentTask: id }),
  "tasks.start's group": ({ runtime, id }) => runtime.tasks.start({ tool: "echo", input: {}, group: id }),
  "tasks.execute's session": ({ runtime, id }) =>
    runtime.tasks.execute({ tool: "echo", input: {}, session: id }).answer,
  "tasks.list's session": ({ runtime, id }) => runtime.tasks.list({ session: id }),
  "tasks.list's parent": ({ runtime, id }) => runtime.tasks.list({ parentTask: id }),
  "groups.get's": ({ runtime, id }) => runtime.tasks.groups.get(id),
  "groups.seal's": ({ runtime, id }) => runtime.tasks.groups.seal(id),
  "groups.open's session": ({ runtime, id }) => runtime.tasks.groups.open({ name: "both", session: id }),
  "sessions.load's": ({ runtime, id }) => runtime.sessions.load(id),
  "sessions.delete's": ({ runtime, id }) => runtime.sessions.delete(id),
  "send's parent": ({ session, id }) => session.send("a", { parentTask: id }),
  "the desk's session": ({ runtime, id }) => runtime.desk({ workspace: "default", actor: "me" }).sessions.isKept(id),
  "the desk's turn": ({ runtime, id }) => runtime.desk({ workspace: "default", actor: "me" }).turns.stop(id),
  "the inbox's": ({ runtime, id }) => runtime.desk({ workspace: "default", actor: "me" }).inbox.answer(id, true),
}
/** Null means "none" there, which is an answer of its own. */
const TAKES_NULL = /'s (session|parent|group)$/

describe.each(PLACES)("what is no id is refused and harms nothing, %s", (_, isKept) => {
  test.each(Object.entries(READINGS))("as %s", async (name, read) => {
    const { runtime } = await openScripted(createScriptedModel(["one"]), { isKept, tools: [echo] })
    const session = await runtime.createSession()
    for (const id of NONSENSE) {
      if (id === null && TAKES_NULL.test(name)) continue
      const outcome = await Promise.resolve()
        .then(() => read({ runtime, session, id: id as never }))
        .catch((error: unknown) => error)
      expect(isMeanwhileError(outcome) ? outcome.code : outcome, String(id)).toMatch(/^(not_found|invalid_input)$/)
    }
    expect((await session.send("a")).text).toBe("one")
  })
})
