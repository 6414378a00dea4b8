import { describe, expect, onTestFinished, test } from "vitest"
import { type Clock, systemClock } from "../../src/base/clock.ts"
import { LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { createSessionId, type TaskId } from "../../src/task/id.ts"
import { asker, NAME } from "../support/asking.ts"
import { type Desks, openDesks } from "../support/desk/open-desks.ts"
import { eventually } from "../support/eventually.ts"
import { createGate } from "../support/session/gate.ts"
import { openAgent } from "../support/session/open-agent.ts"

const { signal } = new AbortController()

/** Things to follow that have nothing more to tell for now. */
const FOLLOWED: Record<string, (desks: Desks) => Promise<AsyncGenerator<unknown, void>>> = {
  async "an inbox"({ desk }) {
    const lists = desk.inbox.follow(signal)
    await lists.next()
    return lists
  },
  async "a session"({ desk }) {
    return desk.sessions.follow(createSessionId(), 0, signal)
  },
  async "the output of a task"({ desk }) {
    const { id } = await desk.tasks.start({ tool: "run_command", input: { command: "echo begun; exec sleep 1000" } })
    const chunks = desk.tasks.followOutput(id, { offset: 0, until: "ended", signal })
    for (let text = ""; text === ""; ) {
      const { value } = await chunks.next()
      text = value?.text ?? ""
    }
    return chunks
  },
  async "the work of a prompt"({ desk, gated }) {
    const session = createSessionId()
    const prompt = { session, saidAt: desk.now(), started: new Set<never>() }
    await desk.tasks.start({ tool: "gated", input: {}, session })
    await gated.call(1)
    return desk.promptWork.settle(prompt, { signal, reported: async () => {} })
  },
}

describe.for(Object.entries(FOLLOWED))("%s that is followed", ([, follow]) => {
  test("ends when its reader leaves, also while the reader waits for the next part", async () => {
    const followed = await follow(await openDesks())
    const next = followed.next()
    await followed.return()
    expect((await followed.next()).done).toBe(true)
    await next
  })

  test("ends without an error when the runtime is closed", async () => {
    const desks = await openDesks()
    const followed = await follow(desks)
    const rest = Array.fromAsync({ [Symbol.asyncIterator]: () => followed })
    await desks.meanwhile.close()
    await rest
    expect((await followed.next()).done).toBe(true)
  })
})

test("a question that is asked while a runtime drains is shown and answered, and then the inbox ends", async () => {
  const gate = createGate()
  const late = defineTool({
    ...asker,
    name: "late",
    async run(input, context) {
      await gate.pass()
      return asker.run(input, context)
    },
  })
  const { desk, meanwhile } = await openDesks({ tools: [late] })
  await desk.tasks.start({ tool: "late", input: { questions: [NAME] }, session: createSessionId() })
  await gate.reached
  const lists = desk.inbox.follow(signal)
  expect((await lists.next()).value).toEqual([])
  const closed = meanwhile.close({ drainMs: 60_000 })
  gate.open()
  const [item] = (await lists.next()).value ?? []
  expect(item).toMatchObject({ question: { text: NAME.text } })
  const rest = Array.fromAsync({ [Symbol.asyncIterator]: () => lists })
  await desk.inbox.answer(item?.id ?? "", "Ada")
  await closed
  await rest
})

test("an inbox that is followed is read as a whole only when it has changed", async () => {
  const desks = await openDesks()
  const { desk, gated, meanwhile } = desks
  let readings = 0
  const { store } = meanwhile.engine
  const waits = store.waits.bind(store)
  const count: typeof store.waits = (filter) => {
    if (filter.taskId === undefined && filter.isOpen) readings += 1
    return waits(filter)
  }
  Object.assign(store, { waits: count })
  const lists = desk.inbox.follow(signal)
  expect((await lists.next()).value).toEqual([])
  const next = lists.next()
  await eventually("it waits for changes", () => readings >= 2)
  const before = readings
  const { id } = await desk.tasks.start({ tool: "gated", input: {} })
  const call = await gated.call(1)
  for (let step = 1; step <= 20; step++) call.context.progress({ phase: `step ${step}` })
  call.finish("done")
  await desk.tasks.wait(id, { waitMs: 30_000, signal })
  expect(readings - before).toBeLessThanOrEqual(1)
  await desk.tasks.start({ tool: "asker", input: { questions: [NAME] }, session: createSessionId() })
  expect((await next).value).toMatchObject([{ question: { text: NAME.text } }])
})

test("many tasks that changed at once cost one look at the inbox, not one each", async () => {
  const { desk, meanwhile } = await openDesks()
  const { store } = meanwhile.engine
  const waits = store.waits.bind(store)
  const looks: (TaskId | "all")[] = []
  let held: Promise<void> | undefined
  const record: typeof store.waits = async (filter) => {
    if (filter.workspace !== desk.workspace || !filter.isOpen) return waits(filter)
    looks.push(filter.taskId ?? "all")
    await held
    return waits(filter)
  }
  Object.assign(store, { waits: record })
  const lists = desk.inbox.follow(signal)
  await lists.next()
  const next = lists.next()
  await eventually("it waits for changes", () => looks.length >= 2)
  const gate = createGate()
  held = gate.pass()
  const first = await desk.tasks.start({ tool: "echo", input: { text: "first" } })
  await eventually("it looks", () => looks.includes(first.id))
  const many = await Promise.all(
    Array.from({ length: 8 }, (_, index) => desk.tasks.start({ tool: "echo", input: { text: `${index}` } })),
  )
  for (const { id } of many) await desk.tasks.wait(id, { waitMs: 30_000, signal })
  looks.length = 0
  held = undefined
  gate.open()
  await eventually("it looks again", () => looks.includes("all"))
  await desk.tasks.start({ tool: "asker", input: { questions: [NAME] }, session: createSessionId() })
  expect((await next).value).toMatchObject([{ question: { text: NAME.text } }])
  for (const { id } of many) expect(looks).not.toContain(id)
})

/** A clock with which the regular looks of a desk never come, and a count of how often one was wanted. */
function withoutLooks() {
  let wanted = 0
  const clock: Clock = {
    ...systemClock,
    schedule(delayMs, callback, options) {
      if (delayMs !== 1_000 || options?.isBackground) return systemClock.schedule(delayMs, callback, options)
      wanted += 1
      return () => undefined
    },
  }
  return { clock, wanted: () => wanted }
}

test("the end of a turn is told at once, not at the next regular look", async () => {
  const { clock, wanted } = withoutLooks()
  const gate = createGate()
  const { runtime, session } = await openAgent([() => ({ gate: gate.pass(), text: "Said." })], {
    isKept: true,
    clock,
  })
  const sent = session.send("Go.")
  await gate.reached
  const { turns } = runtime.desk(LOCAL_PERSON)
  const [turn] = await turns.list()
  if (!turn) throw new Error("There is no turn.")
  const answered = turns.answer(session, turn.id, { signal, onQuestion: () => {} })
  await eventually("it waits", () => wanted() > 0)
  gate.open()
  expect(await answered).toMatchObject({ isShown: true, task: { id: turn.id, status: "completed" } })
  await sent
})

test("a turn that is waited for is returned as it stands when nobody waits any more", async () => {
  const gate = createGate()
  const { runtime, session } = await openAgent([() => ({ gate: gate.pass(), text: "Said." })], { isKept: true })
  const sent = session.send("Go.")
  await gate.reached
  const { turns } = runtime.desk(LOCAL_PERSON)
  const [turn] = await turns.list()
  if (!turn) throw new Error("There is no turn.")
  const leaving = new AbortController()
  const left = turns.wait(turn.id, { signal: leaving.signal, onQuestion: () => {} })
  leaving.abort()
  expect(await left).toMatchObject({ id: turn.id, status: "running" })
  gate.open()
  await sent
})

test("all tasks of a screen count as ended as soon as the last end is told", async () => {
  const { clock, wanted } = withoutLooks()
  const { desk, gated } = await openDesks({ clock })
  const told: string[] = []
  const news = desk.news({ isHere: () => true, areReportsOn: false, onNews: ({ type }) => void told.push(type) })
  onTestFinished(() => news.close())
  expect(await news.allEnded(signal)).toBe(false)
  const { id } = await desk.tasks.start({ tool: "gated", input: {} })
  news.follow(id)
  const ended = news.allEnded(signal)
  const call = await gated.call(1)
  await eventually("it waits", () => wanted() > 0)
  call.finish("done")
  expect(await ended).toBe(true)
  expect(told).toEqual(["task.ended"])
})

test("the end of a prompt's task is told at once, not at the next regular look", async () => {
  const { desk, gated } = await openDesks({ clock: withoutLooks().clock })
  const session = createSessionId()
  const { id } = await desk.tasks.start({ tool: "gated", input: {}, session })
  const call = await gated.call(1)
  const prompt = { session, saidAt: desk.now(), started: new Set([id]) }
  const events = Array.fromAsync(desk.promptWork.settle(prompt, { signal, reported: async () => {} }))
  call.finish("done")
  expect(await events).toMatchObject([
    { type: "task.ended", task: { id } },
    { type: "work.settled", left: "none" },
  ])
})

test("each question of a prompt's task is told, and its end after them", async () => {
  const { desk, gated } = await openDesks()
  const session = createSessionId()
  const other = await desk.tasks.start({ tool: "gated", input: {}, session })
  const { id } = await desk.tasks.start({ tool: "asker", input: { questions: [NAME, NAME] }, session })
  const call = await gated.call(1)
  const prompt = { session, saidAt: desk.now(), started: new Set([id, other.id]) }
  const told: string[] = []
  for await (const event of desk.promptWork.settle(prompt, { signal, reported: async () => {} })) {
    told.push(event.type)
    if (event.type === "question.opened") await desk.inbox.answer(event.item.id, "Ada")
    if (event.type === "task.ended" && event.task.id === id) call.finish("done")
  }
  expect(told).toEqual(["question.opened", "question.opened", "task.ended", "task.ended", "work.settled"])
})

test("the end of a prompt's call that had to be approved is told, as its question was", async () => {
  const question = { kind: "approval", text: "May echo run?" } as const
  const { desk } = await openDesks({
    permissions: { decide: () => ({ allowed: "ask", question, expiresInMs: null }) },
  })
  const session = createSessionId()
  const { id } = await desk.tasks.start({ tool: "echo", input: {}, session })
  const other = await desk.tasks.start({ tool: "gated", input: {}, session })
  const prompt = { session, saidAt: desk.now(), started: new Set([id, other.id]) }
  const told: string[] = []
  for await (const event of desk.promptWork.settle(prompt, { signal, reported: async () => {} })) {
    told.push(event.type)
    if (event.type === "question.opened" && event.item.task.id === id) await desk.inbox.answer(event.item.id, true)
  }
  expect(told).toEqual(["question.opened", "question.opened", "task.ended", "work.settled"])
})

test("the progress of one of a prompt's tasks costs no look at the others", async () => {
  const { clock, wanted } = withoutLooks()
  const { desk, gated, meanwhile } = await openDesks({ clock })
  const session = createSessionId()
  const { id } = await desk.tasks.start({ tool: "gated", input: {}, session })
  const call = await gated.call(1)
  const other = await desk.tasks.start({ tool: "gated", input: {}, session })
  const otherCall = await gated.call(2)
  const { store } = meanwhile.engine
  const task = store.task.bind(store)
  const read: TaskId[] = []
  const record: typeof store.task = (wantedId) => {
    read.push(wantedId)
    return task(wantedId)
  }
  Object.assign(store, { task: record })
  const prompt = { session, saidAt: desk.now(), started: new Set([id, other.id]) }
  const events = Array.fromAsync(desk.promptWork.settle(prompt, { signal, reported: async () => {} }))
  await eventually("it waits", () => wanted() > 0)
  read.length = 0
  for (const phase of ["first", "second"]) {
    const before = read.length
    call.context.progress({ phase })
    await eventually("it is saved", async () => (await task(id))?.progress?.phase === phase)
    await eventually("it is looked at", () => read.length > before)
  }
  expect(read).not.toContain(other.id)
  call.finish("done")
  otherCall.finish("done")
  expect((await events).map(({ type }) => type)).toEqual(["task.ended", "task.ended", "work.settled"])
})
