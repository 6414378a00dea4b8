import { describe, expect, test } from "vitest"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import type { Script } from "../../src/builtin/scripted/script.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import { textOf } from "../../src/plugin/message.ts"
import { createGatedTool } from "../support/tools.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"
import { createGate } from "../support/session/gate.ts"
import { openAgent, openScripted } from "../support/session/open-agent.ts"

/** A scan so rare that it finds nothing. */
const HARDLY_EVER = { background: { completionScanIntervalMs: 3_600_000 } }

/** One process has a turn that is held up; another has the same session open. */
async function openBusy(script: Script = ["two", "three"]) {
  const gate = createGate()
  const here = await openAgent([() => ({ gate: gate.pass(), text: "one" }), "four"], { isKept: true, ...HARDLY_EVER })
  const sent = here.session.send("a")
  await gate.reached
  const model = createScriptedModel(script)
  const { runtime: there } = await openScripted(model, { isKept: true, folder: here.folder, ...HARDLY_EVER })
  return { ...here, gate, sent, there, other: await there.openSession(here.session.id), model }
}

/** Resolves when somebody waits for the turn to change: then the message has been refused once. */
function watchedHere({ engine }: Awaited<ReturnType<typeof openBusy>>["there"]): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const { subscribeTask } = engine.bus
  Object.assign(engine.bus, {
    subscribeTask(...asked: Parameters<typeof subscribeTask>) {
      resolve()
      return subscribeTask(...asked)
    },
  })
  return promise
}

describe("a message to a session whose turn another process has", () => {
  test("is sent when that turn has ended, and asks no model before", async () => {
    const { other, gate, sent, session, there, model } = await openBusy()
    const waits = watchedHere(there)
    const next = other.send("b")
    await waits
    expect([other.isBusy, model.callCount]).toEqual([false, 0])
    gate.open()
    expect((await sent).text).toBe("one")
    expect((await next).text).toBe("two")
    expect((await session.send("d")).text).toBe("four")
    expect(session.history().map(textOf)).toEqual(["a", "one", "b", "two", "d", "four"])
  })

  test("keeps its place before messages that are sent after it", async () => {
    const { other, gate, there } = await openBusy()
    const waits = watchedHere(there)
    const first = other.send("b")
    await waits
    const second = other.send("c")
    gate.open()
    expect([(await first).text, (await second).text]).toEqual(["two", "three"])
    expect(other.history().map(textOf)).toEqual(["a", "one", "b", "two", "c", "three"])
  })

  test("is withdrawn by its signal, and messages behind it are not", async () => {
    const { other, gate, there, sent } = await openBusy()
    const withdrawn = new AbortController()
    const waits = watchedHere(there)
    const refused = expect(other.send("b", { signal: withdrawn.signal })).rejects.toThrow("never mind")
    await waits
    const second = other.send("c")
    withdrawn.abort(new Error("never mind"))
    await refused
    gate.open()
    await sent
    expect((await second).text).toBe("two")
    expect(other.history().map(textOf)).toEqual(["a", "one", "c", "two"])
  })

  test("is withdrawn by a stop, which leaves the turn elsewhere alone", async () => {
    const { other, gate, sent, there } = await openBusy()
    const waits = watchedHere(there)
    const refused = expect(other.send("b")).rejects.toMatchObject({ code: "closed", message: "enough" })
    await waits
    expect([other.stop("enough"), other.stop("enough")]).toEqual([true, true])
    await refused
    expect(other.stop()).toBe(false)
    gate.open()
    expect(await sent).toMatchObject({ outcome: "completed", text: "one" })
  })

  test("is refused when its session, or its runtime, is closed", async () => {
    const { other, there, gate, sent } = await openBusy()
    const waits = watchedHere(there)
    const first = expect(other.send("b")).rejects.toMatchObject({ code: "closed" })
    await waits
    await other.close()
    await first
    const again = await there.openSession(other.id)
    const waitsAgain = watchedHere(there)
    const second = expect(again.send("c")).rejects.toMatchObject({ code: "closed" })
    await waitsAgain
    await there.close()
    await second
    gate.open()
    expect((await sent).text).toBe("one")
  })

  test("is refused at once if the caller wants that, and the refusal names the turn", async () => {
    const { other, gate, sent } = await openBusy()
    await expect(other.send("b", { whenBusy: "refuse" })).rejects.toMatchObject({
      code: "session_busy",
      message: expect.stringMatching(/is busy: its turn \S+ is running\. Wait for it to end, or cancel it\./),
    })
    gate.open()
    await sent
    expect((await other.send("b", { whenBusy: "refuse" })).text).toBe("two")
  })

  test("is sent after a stop of that turn", async () => {
    const { other, sent, session, there } = await openBusy()
    const waits = watchedHere(there)
    const next = other.send("b")
    await waits
    session.stop()
    expect((await sent).outcome).toBe("stopped")
    expect((await next).text).toBe("two")
  })

  test("is sent after the turn that this process continues, when the other process is gone", async () => {
    const { other, runtime, sent, there, gate } = await openBusy(["one again", "two"])
    const waits = watchedHere(there)
    const next = other.send("b")
    await waits
    const left = sent.catch(() => {})
    await runtime.close()
    expect((await next).text).toBe("two")
    gate.open()
    await left
    expect(other.history().map(textOf)).toEqual(["a", "one again", "b", "two"])
  })
})

test("a message that waits for a turn is refused, and told what to do, once that turn waits for a person", async () => {
  const gated = createGatedTool({ obeys: true, onCrash: "ask", background: { mode: "never" } })
  const open = { isKept: true, tools: [gated.tool], ...HARDLY_EVER }
  const { session, folder, runtime } = await openAgent([{ calls: [{ tool: "gated" }] }], open)
  const left = session.send("Send the letter.").catch(() => {})
  await gated.call(1)
  const { runtime: there } = await openScripted(createScriptedModel([]), { ...open, folder })
  const waits = watchedHere(there)
  const refused = expect((await there.openSession(session.id)).send("b")).rejects.toMatchObject({
    code: "session_busy",
    message: expect.stringContaining("waits for a person. Answer what it asks, or cancel it."),
  })
  await waits
  await runtime.close()
  await left
  await refused
})

test("a message that is stopped while it finds its session busy does not wait", async () => {
  const [atModel, atPrompt] = [createGate(), createGate()]
  const { session, folder } = await openAgent([() => ({ gate: atModel.pass(), text: "one" })], { isKept: true })
  const sent = session.send("a")
  await atModel.reached
  const slow = definePlugin({
    kind: "tool",
    name: "slow_enricher",
    tools: [],
    enrichPrompt: (prompt: string) => atPrompt.pass().then(() => ({ prompt })),
  })
  const { runtime: there } = await openScripted(createScriptedModel([]), { isKept: true, folder, plugins: [slow] })
  const other = await there.openSession(session.id)
  const refused = expect(other.send("b")).rejects.toMatchObject({ code: "closed", message: "enough" })
  await atPrompt.reached
  expect(other.stop("enough")).toBe(true)
  atPrompt.open()
  await refused
  atModel.open()
  expect((await sent).text).toBe("one")
})

test("a conversation that is open here is loaded with what another process has said in it since", async () => {
  const here = await openAgent(["one", "two"], { isKept: true })
  await here.session.send("a")
  const { runtime: there } = await openScripted(createScriptedModel(["three"]), { isKept: true, folder: here.folder })
  const other = await there.openSession(here.session.id)
  await here.session.send("b")
  const loaded = async () => (await there.sessions.load(other.id))?.messages.map(textOf)
  expect(await loaded()).toEqual(["a", "one", "b", "two"])
  await other.send("c")
  expect(await loaded()).toEqual(["a", "one", "b", "two", "c", "three"])
})

test("messages that processes send at the same moment each have their turn", async () => {
  const here = await openAgent(["one", "two", "three"], { isKept: true })
  await here.session.send("a")
  const { runtime: there } = await openScripted(createScriptedModel(["two", "three"]), {
    isKept: true,
    folder: here.folder,
  })
  const other = await there.openSession(here.session.id)
  const sent = await Promise.all([here.session.send("b"), other.send("c")])
  expect(sent.map(({ outcome }) => outcome)).toEqual(["completed", "completed"])
  const messages = (await there.sessions.load(other.id))?.messages ?? []
  expect(messages).toHaveLength(6)
  expect(findHistoryProblems(messages)).toEqual([])
})
