import { setImmediate } from "node:timers/promises"
import { describe, expect, onTestFinished, test } from "vitest"
import { MeanwhileError } from "../../src/base/error.ts"
import type { AgentEvent } from "../../src/plugin/agent-event.ts"
import type { Turn } from "../../src/session/conversation/session.ts"
import type { Operation } from "../../src/task/operation.ts"
import { createTaskId } from "../../src/task/id.ts"
import type { CommitOptions } from "../../src/task/store.ts"
import { eventually } from "../support/eventually.ts"
import { createGate } from "../support/session/gate.ts"
import { beginLife } from "../support/session/lives.ts"
import { openAgent, PLACES, typesOf } from "../support/session/open-agent.ts"
import { createFolder } from "../support/workplace.ts"
import { add } from "../support/session/test-tools.ts"

const CALL = { calls: [{ tool: "add", input: { a: 1, b: 2 } }] }

async function readAll(turn: Turn): Promise<readonly AgentEvent[]> {
  const events: AgentEvent[] = []
  for await (const event of turn.events) events.push(event)
  return events
}

describe.each(PLACES)("a turn in the hand, %s", (_, isKept) => {
  test("is handed out with its id before the model has said anything, and its result follows", async () => {
    const gate = createGate()
    const { session } = await openAgent([() => ({ gate: gate.pass(), text: "one" })], { isKept })
    const turn = await session.start("a")
    expect(session.isBusy).toBe(true)
    gate.open()
    const result = await turn.result
    expect(result).toMatchObject({ turn: turn.id, outcome: "completed", text: "one" })
    expect(result.accounting.turn).toBe(turn.id)
  })

  test("tells its events from the first to the last to whoever asks, during the turn and after it", async () => {
    const { session } = await openAgent([CALL, "Three."], { isKept, tools: [add] })
    const turn = await session.start("a")
    const during = readAll(turn)
    await turn.result
    const after = await readAll(turn)
    expect(await during).toEqual(after)
    expect(typesOf(after)).toEqual([
      "agent.status_changed",
      "tool_call.started",
      "tool_call.ended",
      "content.delta",
      "agent.output",
      "turn.completed",
      "context.updated",
      "history.updated",
      "agent.status_changed",
    ])
    expect(after.map(({ sequence }) => sequence)).toEqual(after.map((_, index) => index + 1))
    expect(new Set(after.map((event) => event.turn))).toEqual(new Set([turn.id]))
  })

  test("keeps the newest events of a very long turn, and the numbers show the gap", async () => {
    const text = "x".repeat(3 * 1024 * 1024)
    const { session } = await openAgent([text], { isKept })
    const turn = await session.start("a")
    await turn.result
    const events = await readAll(turn)
    expect(events[0]?.sequence).toBeGreaterThan(1)
    expect(typesOf(events)).toContain("turn.completed")
  })

  test("can be left while it is waited for", async () => {
    const gate = createGate()
    const { session } = await openAgent([() => ({ gate: gate.pass(), text: "one" })], { isKept })
    const turn = await session.start("a")
    const reading = turn.events[Symbol.asyncIterator]()
    expect(await reading.next()).toMatchObject({ value: { type: "agent.status_changed" } })
    const waiting = reading.next()
    await reading.return?.()
    expect(await waiting).toMatchObject({ done: true })
    gate.open()
    await turn.result
  })

  test("is stopped by its own handle, and by no other", async () => {
    const [first, second] = [createGate(), createGate()]
    const script = [() => ({ gate: first.pass() }), () => ({ gate: second.pass(), text: "two" })]
    const { session } = await openAgent(script, { isKept })
    const one = await session.start("a")
    await first.reached
    expect(one.stop("enough")).toBe(true)
    expect(await one.result).toMatchObject({ outcome: "stopped", turn: one.id })
    const two = await session.start("b")
    await second.reached
    expect(one.stop()).toBe(false)
    second.open()
    expect(await two.result).toMatchObject({ outcome: "completed", text: "two" })
  })

  test("that fails rejects its result, which nobody has to await, and its events end", async () => {
    const unhandled: unknown[] = []
    const note = (reason: unknown): void => void unhandled.push(reason)
    process.on("unhandledRejection", note)
    onTestFinished(() => void process.off("unhandledRejection", note))
    const { session } = await openAgent([{ error: { code: "model_refused", message: "No." } }], { isKept })
    const turn = await session.start("a")
    expect((await readAll(turn)).at(-1)).toMatchObject({ type: "agent.status_changed", status: "error" })
    await setImmediate()
    expect(unhandled).toEqual([])
    await expect(turn.result).rejects.toMatchObject({ code: "model_refused" })
  })

  test("is not handed out when nothing was stored", async () => {
    const { session } = await openAgent(["one"], { isKept })
    await expect(session.start("  ")).rejects.toMatchObject({ code: "invalid_input" })
    expect(session.history()).toEqual([])
    expect((await session.send("a")).text).toBe("one")
  })

  test("behind another turn is handed out once that has ended, in the order of the messages", async () => {
    const gate = createGate()
    const { session } = await openAgent([() => ({ gate: gate.pass(), text: "one" }), "two", "three"], { isKept })
    const one = await session.start("a")
    const [two, three] = [session.start("b"), session.send("c")]
    gate.open()
    expect((await (await two).result).text).toBe("two")
    expect((await one.result).text).toBe("one")
    expect((await three).text).toBe("three")
  })

  test("is refused while another turn runs, if the caller wants that, and the refusal names that turn", async () => {
    const gate = createGate()
    const { session } = await openAgent([() => ({ gate: gate.pass(), text: "one" }), "two"], { isKept })
    const turn = await session.start("a")
    await expect(session.start("b", { whenBusy: "refuse" })).rejects.toMatchObject({
      code: "session_busy",
      details: { session: session.id, turn: turn.id, status: "running" },
    })
    expect(session.history()).toHaveLength(1)
    gate.open()
    await turn.result
    expect((await session.send("b", { whenBusy: "refuse" })).text).toBe("two")
  })

  test("of two messages that are sent at once and will not wait, one is refused", async () => {
    const { session } = await openAgent(["one", "two"], { isKept })
    const outcomes = await Promise.allSettled(["a", "b"].map((said) => session.start(said, { whenBusy: "refuse" })))
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "rejected"])
    expect(outcomes[1]).toMatchObject({ reason: { code: "session_busy", details: { turn: null } } })
  })
})

test("a message that will not wait is taken as soon as the end of the turn before is stored", async () => {
  const { session, runtime } = await openAgent(["one", "two"], { isKept: true })
  const turn = await session.start("a")
  const { task } = await runtime.tasks.result(turn.id, { waitMs: 30_000 })
  expect(task.status).toBe("completed")
  expect((await session.send("b", { whenBusy: "refuse" })).text).toBe("two")
})

test("a turn whose id is told is on disk by then, and the beginning of a sent one waits for no disk", async () => {
  const { session, runtime } = await openAgent(["one", "two"], { isKept: true })
  const { store } = runtime.engine
  const beginnings: (boolean | undefined)[] = []
  const commit = store.commit.bind(store) as (...given: unknown[]) => Promise<never>
  Object.assign(store, {
    commit(operations: readonly Operation[], options?: CommitOptions) {
      if (operations.some(({ op }) => op === "task.create")) beginnings.push(options?.waitsForDisk)
      return commit(operations, options)
    },
  })
  await session.send("a")
  const turn = await session.start("b")
  expect((await store.task(turn.id))?.kind).toBe("turn")
  await turn.result
  expect(beginnings).toEqual([false, true])
})

const isBeginning = (operations: readonly Operation[]): boolean => operations.some(({ op }) => op === "task.create")

test("a crash before the beginning of a turn is stored leaves nothing, and the caller has no id", async () => {
  const folder = createFolder()
  const first = await beginLife(folder, 1, {
    script: ["one"],
    tools: [],
    ending: { when: "before", isHere: isBeginning },
  })
  const session = await first.runtime.createSession()
  let isHandedOut = false
  void session.start("a").then(() => (isHandedOut = true))
  await first.life.over
  const next = await beginLife(folder, 2, { script: ["one"], tools: [] })
  expect(await next.store.countTasks({})).toBe(0)
  expect(isHandedOut).toBe(false)
})

test.each([
  ["before the caller has the id", "beginning"],
  ["before the model has answered", "answer"],
])("a turn that was stored goes on under its id after a crash %s", async (_, where) => {
  const folder = createFolder()
  const gate = createGate()
  const ending = { when: "after", isHere: isBeginning } as const
  const script = [() => ({ gate: gate.pass(), text: "lost" })]
  const first = await beginLife(folder, 1, { script, tools: [], ...(where === "beginning" && { ending }) })
  const session = await first.runtime.createSession()
  const started = session.start("a")
  if (where === "answer") {
    await started
    await gate.reached
    first.life.end()
  }
  await first.life.over
  const next = await beginLife(folder, 2, { script: ["found"], tools: [] })
  const [turn] = (await next.store.tasks({ kinds: ["turn"] }, { limit: 2 })).items
  if (where === "answer") expect(turn?.id).toBe((await started).id)
  await eventually(
    "the turn has ended",
    async () => (await next.store.task(turn?.id ?? createTaskId()))?.status === "completed",
  )
  expect(next.model.requests).toHaveLength(1)
  expect(next.model.requests[0]?.messages).toHaveLength(1)
})

test("the events of a turn that goes on after a crash name it, and are numbered anew", async () => {
  const folder = createFolder()
  const gate = createGate()
  const first = await beginLife(folder, 1, { script: [() => ({ gate: gate.pass() })], tools: [] })
  const turn = await (await first.runtime.createSession()).start("a")
  await gate.reached
  first.life.end()
  const events: AgentEvent[] = []
  const onEvent = (event: AgentEvent): void => void events.push(event)
  const next = await beginLife(folder, 2, { script: ["found"], tools: [], onEvent })
  await eventually("the turn has ended", async () => (await next.store.task(turn.id))?.status === "completed")
  const own = events.filter((event) => event.turn === turn.id)
  expect(typesOf(own)).toEqual(expect.arrayContaining(["agent.output", "turn.completed"]))
  expect(own.map(({ sequence }) => sequence)).toEqual(own.map((_, index) => index + 1))
})

test("a store that refuses the beginning hands out no turn, and the conversation goes on", async () => {
  const { session, runtime, model } = await openAgent(["one"], { isKept: true })
  const { store } = runtime.engine
  const commit = store.commit.bind(store) as (...given: unknown[]) => Promise<never>
  let refusals = 1
  Object.assign(store, {
    commit(operations: readonly Operation[], options?: CommitOptions) {
      if (!isBeginning(operations) || refusals-- <= 0) return commit(operations, options)
      return Promise.reject(new MeanwhileError("store_damaged", "It is broken."))
    },
  })
  await expect(session.start("a")).rejects.toMatchObject({ code: "store_damaged" })
  expect([session.isBusy, session.history(), model.callCount]).toEqual([false, [], 0])
  expect((await session.send("b")).text).toBe("one")
})
