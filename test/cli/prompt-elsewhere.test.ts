import { PassThrough } from "node:stream"
import { expect, onTestFinished, test } from "vitest"
import { MeanwhileError } from "../../src/base/error.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { createConversation } from "../../src/cli/chat/conversation.ts"
import { sayPrompt } from "../../src/cli/headless/say-prompt.ts"
import { openDesk } from "../../src/cli/start/person-desk.ts"
import { createLineScreen } from "../../src/cli/screen/create-screen.ts"
import { createGate } from "../support/session/gate.ts"
import { openAgent, openScripted } from "../support/session/open-agent.ts"
import { eventually } from "../support/eventually.ts"

/** A session with a turn in another process, and the means to say a prompt in this one. */
async function openElsewhere() {
  const gate = createGate()
  const script = [() => ({ gate: gate.pass(), text: "Said there." })]
  const there = await openAgent(script, { isKept: true })
  const sent = there.session.send("Go.")
  await gate.reached
  const { runtime } = await openScripted(createScriptedModel(["Said here."]), { isKept: true, folder: there.folder })
  const session = await runtime.openSession(there.session.id)
  const [turn] = (await runtime.tasks.list({ kinds: ["turn"] })).items
  if (!turn) throw new Error("There is no turn.")
  let shown = ""
  const output = new PassThrough().setEncoding("utf8").on("data", (text: string) => (shown += text))
  const screen = createLineScreen(output)
  const stop = new AbortController()
  const parts = {
    meanwhile: runtime,
    desk: openDesk(runtime),
    session,
    answers: screen,
    notes: screen,
    words: "meanwhile",
  }
  return { gate, sent, turn: turn.id, stop, scope: { ...parts, signal: stop.signal }, shown: () => shown }
}

async function openChat() {
  const { gate, sent, scope, shown } = await openElsewhere()
  const { meanwhile, desk, session: first, answers: screen } = scope
  const conversation = createConversation({
    meanwhile,
    desk,
    screen,
    first,
    backgroundAfterMs: () => null,
    isStoreAway: () => false,
    gone: new AbortController().signal,
  })
  onTestFinished(() => conversation.close())
  conversation.joinElsewhere()
  await eventually("it is told", () => shown().includes("another program answers in this conversation"))
  return { gate, sent, conversation, shown }
}

test("a chat that opens a conversation in which another program answers shows that answer, once", async () => {
  const { gate, sent, conversation, shown } = await openChat()
  const said = conversation.say("And now?")
  gate.open()
  await Promise.all([sent, said])
  await eventually("it is shown", () => shown().includes("Said there."))
  expect(shown().match(/Said there\./g)).toHaveLength(1)
  const texts = (await conversation.session.recall({ count: 2 })).map(({ text }) => text)
  expect(texts).toEqual(["And now?", "Said here."])
})

test("Ctrl+C in a chat stops the answer that another program has begun there", async () => {
  const { sent, conversation } = await openChat()
  expect(conversation.stop()).toBe(true)
  expect((await sent).outcome).toBe("stopped")
})

/** The scope of a process that stood still, so that the other process has taken over its turn. */
const toTaken = <Scope extends { readonly session: object }>(scope: Scope, taskId: string): Scope => ({
  ...scope,
  session: Object.assign(Object.create(scope.session) as object, {
    send: () => Promise.reject(new MeanwhileError("stale_claim", "It was taken over.", { taskId })),
  }),
})

test("the answer of a turn that was taken over is printed when it is there", async () => {
  const { gate, sent, turn, scope, shown } = await openElsewhere()
  const said = sayPrompt(toTaken(scope, turn), "Go.")
  gate.open()
  expect(await said).toMatchObject({ outcome: "completed", text: "Said there.", error: null })
  expect(shown()).toMatch(/^\(.*another worker goes on with the answer.*\)\nSaid there\.\n$/)
  await sent
})

test("a stop during the wait for a turn that was taken over stops the turn", async () => {
  const { sent, turn, scope, stop } = await openElsewhere()
  const said = sayPrompt(toTaken(scope, turn), "Go.")
  stop.abort(new Error("stopped by a signal"))
  expect(await said).toMatchObject({ outcome: "stopped", error: "stopped by a signal" })
  expect((await sent).outcome).toBe("stopped")
})

test("a prompt waits for the turn that another program has in its conversation, and is heard then", async () => {
  const { gate, sent, scope, shown } = await openElsewhere()
  const said = sayPrompt(scope, "And now?")
  await eventually("it waits", () => shown() !== "")
  gate.open()
  await sent
  expect(await said).toMatchObject({ outcome: "completed", text: "Said here." })
  expect(shown()).toBe("(another program answers in this conversation: the prompt is said when that has ended)\n")
})
