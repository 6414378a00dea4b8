import { PassThrough } from "node:stream"
import { expect, onTestFinished, test } from "vitest"
import { type Conversation, createConversation } from "../../src/cli/chat/conversation.ts"
import { shortId } from "../../src/cli/format/format.ts"
import { sayPrompt } from "../../src/cli/headless/say-prompt.ts"
import { openDesk } from "../../src/cli/start/person-desk.ts"
import { createLineScreen } from "../../src/cli/screen/create-screen.ts"
import type { Runtime } from "../../src/runtime.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"
import { openScripted } from "../support/session/open-agent.ts"

/** A session whose turn was cut off in a call; a person must decide whether the call is made again. */
async function openAsking(script: readonly string[]) {
  const folder = createFolder()
  const gated = createGatedTool({ obeys: true, onCrash: "ask", background: { mode: "never" } })
  const calling = createScriptedModel([{ calls: [{ tool: "gated", input: { name: "one" } }] }])
  const open = { tools: [gated.tool], isKept: true, folder }
  const { runtime: first } = await openScripted(calling, open)
  const session = await first.createSession()
  void session.send("Send the letter.").catch(() => {})
  await gated.call(1)
  await first.close()
  const model = createScriptedModel(script)
  const { runtime } = await openScripted(model, open)
  const [wait] = await eventually("a person is asked", async () => {
    const waits = await runtime.engine.store.waits({ isOpen: true })
    return waits.length > 0 && waits
  })
  if (!wait) throw new Error("Nobody is asked.")
  return { runtime, session: await runtime.openSession(session.id), turn: wait.taskId, wait: wait.id, model, gated }
}

function createOutput() {
  let shown = ""
  const output = new PassThrough().setEncoding("utf8").on("data", (text: string) => (shown += text))
  return { screen: createLineScreen(output), shown: () => shown }
}

function talk(runtime: Runtime, first: Conversation["session"]) {
  const { screen, shown } = createOutput()
  const conversation = createConversation({
    meanwhile: runtime,
    desk: openDesk(runtime),
    screen,
    first,
    backgroundAfterMs: () => null,
    isStoreAway: () => false,
    gone: new AbortController().signal,
  })
  onTestFinished(() => conversation.close())
  return { conversation, shown }
}

test("a message during a turn that waits for a person shows the question, and is heard after the answer", async () => {
  const { runtime, session, turn, wait, model, gated } = await openAsking(["It was sent.", "Hello."])
  const { conversation, shown } = talk(runtime, session)
  const said = conversation.say("Say hello.")
  await eventually("the question is shown", () => shown().includes("/answer"))
  expect(shown()).toMatch(/^\(queued: the answer before waits for you, .*Ctrl\+C stops that answer\)\n/)
  expect(shown()).toContain(`[${shortId(turn)}] Send the letter. was interrupted. Run it again?\n`)
  expect(shown()).toContain(`Answer: /answer ${shortId(turn)} yes|no`)
  expect(shown()).not.toContain(session.id)
  expect(conversation.unsaid()).toEqual(["Say hello."])
  await conversation.allAnswered()

  await runtime.tasks.answer(wait, true, "test")
  ;(await gated.call(2)).finish()
  await said
  expect(model.requests).toHaveLength(2)
  const texts = (await session.recall({ count: 3 })).map(({ text }) => text)
  expect(texts).toEqual(["It was sent.", "Say hello.", "Hello."])
})

test("a stop ends the turn that waits for a person, and the message is heard", async () => {
  const { runtime, session } = await openAsking(["Hello."])
  const { conversation, shown } = talk(runtime, session)
  const said = conversation.say("Say hello.")
  await eventually("the question is shown", () => shown().includes("/answer"))
  expect(conversation.stop()).toBe(true)
  await said
  expect(shown()).toMatch(/The turn cancelled .*by person/)
  expect((await session.recall({ count: 1 }))[0]?.text).toBe("Hello.")
})

test("a prompt without a person at the keyboard shows the earlier turn's question, and asks for a person", async () => {
  const { runtime, session, turn, model } = await openAsking(["never said"])
  const { screen: notes, shown } = createOutput()
  const { signal } = new AbortController()
  const scope = { desk: openDesk(runtime), session, answers: null, notes, words: "meanwhile", signal }
  const said = await sayPrompt(scope, "Say hello.")
  expect(said.outcome).toBe("waiting")
  expect(shown()).toContain(`Answer: meanwhile tasks answer ${shortId(turn)} yes|no`)
  expect(model.requests).toHaveLength(0)
})
