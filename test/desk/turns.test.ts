import { expect, test } from "vitest"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import { toBusyTurn } from "../../src/desk/turns.ts"
import { eventually } from "../support/eventually.ts"
import { createGate } from "../support/session/gate.ts"
import { openAgent, openScripted } from "../support/session/open-agent.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

/** A turn that one runtime has, and another runtime that opened the same session. */
async function openElsewhere() {
  const gate = createGate()
  const there = await openAgent([() => ({ gate: gate.pass(), text: "Said there." })], { isKept: true })
  const sent = there.session.send("Go.")
  await gate.reached
  const { runtime } = await openScripted(createScriptedModel([]), { isKept: true, folder: there.folder })
  const session = await runtime.openSession(there.session.id)
  return { gate, sent, session, desk: runtime.desk(LOCAL_PERSON) }
}

test("the answer of a turn in another process can be read when the turn has ended", async () => {
  const { gate, sent, session, desk } = await openElsewhere()
  const [turn] = await desk.turns.list()
  if (!turn) throw new Error("There is no turn.")
  expect(turn).toMatchObject({ session: session.id, where: "elsewhere", title: "Go." })
  const { signal } = new AbortController()
  const answer = desk.turns.answer(session, turn.id, { signal, onQuestion: () => {} })
  gate.open()
  expect(await answer).toMatchObject({ text: "Said there.", isShown: false, task: { status: "completed" } })
  await sent
  expect(await desk.turns.list()).toEqual([])
})

test("the refusal of a message to a session that is busy elsewhere names the turn, which can be stopped from here", async () => {
  const { sent, session, desk } = await openElsewhere()
  const refused = await session.send("And now?", { whenBusy: "refuse" }).catch((error: unknown) => error)
  const busy = toBusyTurn(refused)
  if (!busy) throw new Error("It was not refused for a turn.")
  expect(busy.isWaiting).toBe(false)
  await desk.turns.stop(busy.turn, { by: "person", reason: "enough" })
  expect((await sent).outcome).toBe("stopped")
})

test("the calls that a turn waits for are promoted only in the process that runs the turn", async () => {
  const folder = createFolder()
  const gated = createGatedTool({ obeys: true, background: { mode: "after", ms: 60_000 } })
  const calling = createScriptedModel([{ calls: [{ tool: "gated", input: { name: "one" } }] }, "It goes on."])
  const { runtime } = await openScripted(calling, { tools: [gated.tool], isKept: true, folder })
  const sent = (await runtime.createSession()).send("Begin.")
  await gated.call(1)
  const desk = runtime.desk(LOCAL_PERSON)
  const [turn] = await desk.turns.list()
  if (!turn) throw new Error("There is no turn.")

  const { runtime: other } = await openScripted(createScriptedModel([]), { isKept: true, folder })
  const elsewhere = other.desk(LOCAL_PERSON).turns.promote(turn.id)
  await expect(elsewhere).rejects.toMatchObject({ code: "wrong_state", message: /does not run in this process/ })
  const { turns: foreign } = runtime.desk({ workspace: "another", actor: "person" })
  expect(await foreign.list()).toEqual([])
  const { signal } = new AbortController()
  for (const touch of [
    () => foreign.promote(turn.id),
    () => foreign.stop(turn.id),
    () => foreign.wait(turn.id, { signal, onQuestion: () => {} }),
  ])
    await expect(touch()).rejects.toMatchObject({ code: "not_found" })

  const [task] = await desk.turns.promote(turn.id)
  expect(await desk.tasks.find(task ?? "")).toMatchObject({ task: { tool: "gated", status: "running" } })
  expect(await desk.turns.promote(turn.id).catch(() => [])).toEqual([])
  expect((await sent).text).toBe("It goes on.")
  await expect(desk.turns.promote(turn.id)).rejects.toMatchObject({ code: "wrong_state", message: /has ended/ })
})

test("no process has a turn that waits for a person; a wait for it tells the question, then that it was answered", async () => {
  const folder = createFolder()
  const gated = createGatedTool({ obeys: true, onCrash: "ask", background: { mode: "never" } })
  const open = { tools: [gated.tool], isKept: true, folder }
  const calling = createScriptedModel([{ calls: [{ tool: "gated", input: { name: "one" } }] }])
  const { runtime: first } = await openScripted(calling, open)
  const before = await first.createSession()
  void before.send("Send the letter.").catch(() => {})
  await gated.call(1)
  await first.close()
  const { runtime } = await openScripted(createScriptedModel(["It was sent."]), open)
  const desk = runtime.desk(LOCAL_PERSON)
  const turn = await eventually("a person is asked", async () => {
    const [one] = await desk.turns.list()
    return one?.where === "person" && one
  })
  expect((await desk.sessions.find(before.id)).state).toBe("needs_you")
  const questions: (string | null)[] = []
  const session = await runtime.openSession(before.id)
  const { signal } = new AbortController()
  const answered = desk.turns.answer(session, turn.id, {
    signal,
    onQuestion: (item) => void questions.push(item && item.question.text),
  })
  await eventually("the question is told", () => questions.length === 1)
  expect(questions[0]).toContain("Run it again?")
  await desk.inbox.answer(turn.id, true)
  ;(await gated.call(2)).finish()
  expect((await answered).text).toBe("It was sent.")
})

test("a late answer to what a turn asked before does not answer what it asks now", async () => {
  const gated = createGatedTool({ obeys: true, onCrash: "ask", background: { mode: "never" } })
  const open = { tools: [gated.tool], isKept: true, folder: createFolder() }
  const calling = createScriptedModel([{ calls: [{ tool: "gated", input: { name: "one" } }] }])
  const { runtime: first } = await openScripted(calling, open)
  void (await first.createSession()).send("Send the letter.").catch(() => {})
  await gated.call(1)
  await first.close()
  const reopen = async () => {
    const { runtime } = await openScripted(createScriptedModel(["It was sent."]), open)
    const { inbox } = runtime.desk(LOCAL_PERSON)
    const item = await eventually("a person is asked", async () => (await inbox.list())[0])
    return { runtime, inbox, item }
  }
  const before = await reopen()
  await before.inbox.answer(before.item.id, true)
  await gated.call(2)
  await before.runtime.close()
  const now = await reopen()
  expect(now.item.task.id).toBe(before.item.task.id)
  await expect(now.inbox.answer(before.item.id, true)).rejects.toMatchObject({ code: "wrong_state" })
  expect((await now.inbox.list()).map(({ id }) => id)).toEqual([now.item.id])
})
