import { describe, expect, test } from "vitest"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import type { ScriptStep } from "../../src/builtin/scripted/script.ts"
import { type FilePart, textOf } from "../../src/plugin/message.ts"
import type { ModelRequest } from "../../src/plugin/model.ts"
import type { Operation } from "../../src/task/operation.ts"
import { eventually } from "../support/eventually.ts"
import { interceptCommits } from "../support/intercept-commits.ts"
import { createGate } from "../support/session/gate.ts"
import { findHistoryProblems } from "../support/session/history-problems.ts"
import { beginLife } from "../support/session/lives.ts"
import { openAgent, openScripted, PLACES } from "../support/session/open-agent.ts"
import { createGatedTool } from "../support/tools.ts"
import { add } from "../support/session/test-tools.ts"
import { createFolder } from "../support/workplace.ts"

const REFUSED: ScriptStep = { error: { code: "model_refused", message: "No." } }
const CALL: ScriptStep = { calls: [{ tool: "add", input: { a: 1, b: 2 } }] }
const PICTURE: FilePart = { type: "file", mediaType: "image/png", source: { data: "iVBORw0KGgo=" } }

const saidIn = (request: ModelRequest | undefined): readonly string[] =>
  (request?.messages ?? []).map(({ role, ...message }) => `${role}: ${textOf({ role, ...message } as never)}`)
const picturesIn = (request: ModelRequest | undefined): number =>
  (request?.messages ?? []).flatMap(({ parts }) => [...parts]).filter(({ type }) => type === "file").length

describe.each(PLACES)("a turn that is taken again, %s", (_, isKept) => {
  test("asks the model with the message, and its picture, once, however often it was tried", async () => {
    const { session, model } = await openAgent([REFUSED, REFUSED, REFUSED, "A cat."], { isKept })
    await expect(session.send("What is this?", { files: [PICTURE] })).rejects.toMatchObject({ code: "model_refused" })
    for (const _ of [1, 2]) {
      const turn = await session.retry()
      await expect(turn.result).rejects.toMatchObject({ code: "model_refused" })
    }
    const turn = await session.retry()
    expect(await turn.result).toMatchObject({ turn: turn.id, outcome: "completed", text: "A cat." })
    for (const request of model.requests) {
      expect(saidIn(request)).toEqual(["user: What is this?"])
      expect(picturesIn(request)).toBe(1)
    }
    expect(session.history().map(textOf)).toEqual(["What is this?", "A cat."])
    expect((await session.recall({ count: 9 })).map(({ text }) => text)).toEqual(["What is this?", "A cat."])
  })

  test("goes on from the calls that were answered, and makes none of them again", async () => {
    let sums = 0
    const counting = { ...add, run: async () => ({ sum: (sums += 1) }) }
    const { session, model } = await openAgent([CALL, REFUSED, "Three."], { isKept, tools: [counting] })
    await expect(session.send("Add.")).rejects.toMatchObject({ code: "model_refused" })
    expect((await (await session.retry()).result).text).toBe("Three.")
    expect(sums).toBe(1)
    expect(model.requests.at(-1)?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"])
    expect(findHistoryProblems(session.history())).toEqual([])
  })

  test("that was stopped begins without the words at which it was stopped", async () => {
    const gate = createGate()
    const script: ScriptStep[] = [() => ({ gate: gate.pass(), text: "lost" }), "Whole."]
    const { session, model } = await openAgent(script, { isKept })
    const stopped = await session.start("Go.")
    await gate.reached
    stopped.stop()
    expect((await stopped.result).outcome).toBe("stopped")
    expect(session.history()).toHaveLength(2)
    expect((await (await session.retry()).result).text).toBe("Whole.")
    expect(saidIn(model.requests.at(-1))).toEqual(["user: Go."])
    expect(session.history().map(textOf)).toEqual(["Go.", "Whole."])
  })

  test("that was stopped twice leaves an earlier stop as it was", async () => {
    const gates = [createGate(), createGate()]
    const script: ScriptStep[] = [...gates.map((gate) => () => ({ gate: gate.pass() })), "Done."]
    const { session, model } = await openAgent(script, { isKept })
    for (const [index, said] of ["First.", "Second."].entries()) {
      const turn = await session.start(said)
      await gates[index]?.reached
      turn.stop()
      await turn.result
    }
    await (await session.retry()).result
    expect(saidIn(model.requests.at(-1))).toEqual([
      "user: First.",
      "assistant: [The turn was stopped before it was finished.]",
      "user: Second.",
    ])
  })

  test.each<[string, readonly ScriptStep[], readonly string[], RegExp]>([
    ["nothing was said", [], [], /nothing was said in it yet/],
    ["the last turn has completed", ["one"], ["a"], /its last turn has completed/],
    ["the last turn has completed, and one before had failed", [REFUSED, "two"], ["a", "b"], /has completed/],
  ])("is refused when %s, and says why", async (_, script, messages, why) => {
    const { session, model } = await openAgent(script, { isKept })
    for (const message of messages) await session.send(message).catch(() => {})
    await expect(session.retry()).rejects.toMatchObject({ code: "wrong_state", message: expect.stringMatching(why) })
    expect(model.callCount).toBe(messages.length)
  })

  test("is refused after the conversation was emptied, and goes on behind what a command told", async () => {
    const { session, model } = await openAgent([REFUSED, REFUSED, "Fine."], { isKept })
    await session.send("a").catch(() => {})
    await session.reset()
    await expect(session.retry()).rejects.toMatchObject({ code: "wrong_state", message: /since it was emptied/ })
    await session.send("b").catch(() => {})
    expect((await (await session.retry()).result).text).toBe("Fine.")
    expect(saidIn(model.requests.at(-1))).toEqual(["user: b"])
  })

  test("is refused while another turn runs, if the caller wants that", async () => {
    const gate = createGate()
    const { session } = await openAgent([() => ({ gate: gate.pass(), text: "one" })], { isKept })
    const turn = await session.start("a")
    await expect(session.retry({ whenBusy: "refuse" })).rejects.toMatchObject({ code: "session_busy" })
    gate.open()
    await turn.result
  })
})

test("a turn is taken again in another process, with the title of the one that failed", async () => {
  const here = await openAgent([REFUSED], { isKept: true })
  await here.session.send("Look at this.", { files: [PICTURE] }).catch(() => {})
  await here.runtime.close()
  const model = createScriptedModel(["A cat."])
  const { runtime } = await openScripted(model, { isKept: true, folder: here.folder })
  const session = await runtime.openSession(here.session.id)
  const turn = await session.retry()
  expect((await turn.result).text).toBe("A cat.")
  expect([saidIn(model.requests[0]), picturesIn(model.requests[0])]).toEqual([["user: Look at this."], 1])
  expect((await runtime.tasks.get(turn.id)).task.title).toBe("Look at this.")
  expect((await runtime.sessions.load(session.id))?.messages.map(textOf)).toEqual(["Look at this.", "A cat."])
})

test("a stopped turn that was taken again is read from the store as it was taken", async () => {
  const gate = createGate()
  const here = await openAgent([() => ({ gate: gate.pass() }), "Whole."], { isKept: true })
  const turn = await here.session.start("Go.")
  await gate.reached
  turn.stop()
  await turn.result
  await (await here.session.retry()).result
  const { runtime } = await openScripted(createScriptedModel([]), { isKept: true, folder: here.folder })
  expect((await runtime.openSession(here.session.id)).history().map(textOf)).toEqual(["Go.", "Whole."])
})

test("a turn whose interrupted call nobody wants repeated is taken again, and the call is answered once", async () => {
  const gated = createGatedTool({ obeys: true, onCrash: "ask", background: { mode: "never" } })
  const folder = createFolder()
  const first = await beginLife(folder, 1, { script: [{ calls: [{ tool: "gated" }] }], tools: [gated.tool] })
  const { id } = await first.runtime.createSession({}).then(async (session) => {
    void session.send("Send the letter.").catch(() => {})
    return session
  })
  await gated.call(1)
  first.life.end()
  const next = await beginLife(folder, 2, { script: ["It was cut off."], tools: [gated.tool] })
  const wait = await eventually("it is asked", async () => (await next.store.waits({ isOpen: true }))[0])
  const asked = await next.runtime.tasks.answer(wait.id, false, "me")
  expect(asked.status).toBe("cancelled")
  const session = await next.runtime.openSession(id)
  expect((await (await session.retry()).result).text).toBe("It was cut off.")
  expect(next.model.requests[0]?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"])
  expect(findHistoryProblems(session.history())).toEqual([])
})

const isReopening = (operations: readonly Operation[]): boolean =>
  operations.some((operation) => operation.op === "session.update" && JSON.stringify(operation).includes("reopened"))

test.each(["before", "after"] as const)(
  "a crash %s the commit that takes a turn again says nothing twice",
  async (when) => {
    const folder = createFolder()
    const gate = createGate()
    const ending = { when, isHere: isReopening }
    const first = await beginLife(folder, 1, { script: [() => ({ gate: gate.pass() })], tools: [], ending })
    const session = await first.runtime.createSession()
    const turn = await session.start("Go.")
    await gate.reached
    turn.stop()
    await turn.result
    void session.retry().catch(() => {})
    await first.life.over
    const next = await beginLife(folder, 2, { script: ["Whole."], tools: [] })
    const again = await next.runtime.openSession(session.id)
    if (when === "before") await (await again.retry()).result
    await eventually("the turn has ended", async () => (await next.store.countTasks({ statuses: ["completed"] })) === 1)
    expect(saidIn(next.model.requests[0])).toEqual(["user: Go."])
    expect((await next.runtime.sessions.load(session.id))?.messages.map(textOf)).toEqual(["Go.", "Whole."])
  },
)

test("a store that refuses the beginning leaves the turn to be taken again", async () => {
  const { session, runtime, model } = await openAgent([REFUSED, "Fine."], { isKept: true })
  await session.send("a").catch(() => {})
  let refusals = 1
  interceptCommits(runtime, (operations, commit) => {
    if (!operations.some(({ op }) => op === "task.create") || refusals-- <= 0) return commit(operations)
    return Promise.reject(new Error("broken"))
  })
  await expect(session.retry()).rejects.toThrow("broken")
  expect((await (await session.retry()).result).text).toBe("Fine.")
  expect(saidIn(model.requests.at(-1))).toEqual(["user: a"])
})
