import { describe, expect, test } from "vitest"
import { type Clock, systemClock } from "../../src/base/clock.ts"
import type { InboxItem } from "../../src/desk/inbox.ts"
import { createSessionId, createWaitId } from "../../src/task/id.ts"
import { COLOUR, NAME } from "../support/asking.ts"
import { type Desks, openDesks } from "../support/desk/open-desks.ts"
import { eventually } from "../support/eventually.ts"

const ask = ({ desk }: Desks, ...questions: readonly object[]) =>
  desk.tasks.start({ tool: "asker", input: { questions }, session: createSessionId() })

const firstItem = ({ inbox }: Desks["desk"]): Promise<InboxItem> =>
  eventually("something waits for a person", async () => (await inbox.list())[0])

describe("the inbox of a desk", () => {
  test("lists a question as it was asked, with the task that waits for it", async () => {
    const desks = await openDesks()
    const { id, session } = await ask(desks, COLOUR)
    const item = await firstItem(desks.desk)
    expect(item.question).toEqual({ ...COLOUR, about: "question" })
    expect(item.task).toMatchObject({ status: "waiting", parentTask: id, session })
    expect(item.onExpiry).toBe("red")
    expect(item.openedAt).toBeLessThanOrEqual(desks.desk.now())
    expect(item.expiresAt).toBeGreaterThan(item.openedAt)
  })

  test("finds the items of a task, of those below it, and of a session", async () => {
    const desks = await openDesks()
    const { desk } = desks
    const asking = await ask(desks, NAME)
    const other = await ask(desks, COLOUR)
    await eventually("both wait", async () => (await desk.inbox.list()).length === 2)
    const [item, ...more] = await desk.inbox.below(asking.id)
    expect(more).toEqual([])
    expect(item?.question.text).toBe(NAME.text)
    expect(await desk.inbox.of(asking.id)).toBeUndefined()
    expect(item && (await desk.inbox.of(item.task.id))).toEqual(item)
    const ofOther = other.session ? await desk.inbox.inSession(other.session) : []
    expect(ofOther.map(({ question }) => question.text)).toEqual([COLOUR.text])
  })

  test("is answered by the id of the item, of its task, or by the beginning of that", async () => {
    const desks = await openDesks()
    const { desk } = desks
    const { id } = await ask(desks, NAME, NAME, NAME)
    const answerNext = async (toId: (item: InboxItem) => string, said: string, before?: InboxItem) => {
      const item = await eventually("it asks", async () =>
        (await desk.inbox.list()).find((one) => one.id !== before?.id),
      )
      await desk.inbox.answer(toId(item), said)
      return item
    }
    const first = await answerNext((item) => item.id, "one")
    const second = await answerNext((item) => item.task.id, "two", first)
    await answerNext((item) => item.task.id.slice(0, 13), "three", second)
    const { task } = await desk.tasks.wait(id, { waitMs: 30_000, signal: new AbortController().signal })
    expect(task).toMatchObject({ status: "completed", patch: { payload: ["one", "two", "three"] } })
    expect(await desk.inbox.list()).toEqual([])
  })

  test("writes down who has answered", async () => {
    const desks = await openDesks()
    await ask(desks, NAME)
    const item = await firstItem(desks.desk)
    await desks.desk.inbox.answer(item.id, "Meanwhile")
    expect(await desks.meanwhile.engine.store.wait(item.id)).toMatchObject({ state: "answered", answeredBy: "ada" })
  })

  test("refuses a second answer, an invalid answer, and an answer to a task that waits for nobody", async () => {
    const desks = await openDesks()
    const { desk } = desks
    await ask(desks, { ...COLOUR, fallback: undefined })
    const item = await firstItem(desk)
    await expect(desk.inbox.answer(item.id, "green")).rejects.toMatchObject({ code: "invalid_input" })
    await expect(desk.inbox.answer(item.id, { red: true })).rejects.toMatchObject({ code: "invalid_input" })
    await desk.inbox.answer(item.id, "red")
    await expect(desk.inbox.answer(item.id, "red")).rejects.toMatchObject({ code: "wrong_state" })
    const { id } = await desk.tasks.start({ tool: "gated", input: {} })
    await expect(desk.inbox.answer(id, "red")).rejects.toMatchObject({ code: "wrong_state", details: { taskId: id } })
  })

  test("refuses an answer to a question that nobody has asked, however its id is written", async () => {
    const { desk } = await openDesks()
    for (const id of [
      "",
      " ",
      "nobody",
      "' OR 1=1 --",
      "00000000-0000-0000-0000-000000000000",
      "../../etc/passwd",
      "%",
    ])
      await expect(desk.inbox.answer(id, true)).rejects.toMatchObject({ code: "not_found" })
  })

  test("asks whether a call may run, and takes a no with its reason", async () => {
    const question = { kind: "approval", text: "May echo run?", detail: "bread" } as const
    const { desk, elsewhere } = await openDesks({
      permissions: { decide: () => ({ allowed: "ask", question, expiresInMs: null }) },
    })
    const allowed = await desk.tasks.start({ tool: "echo", input: { value: "bread" } })
    const refused = await desk.tasks.start({ tool: "echo", input: { value: "cake" } })
    const items = await desk.inbox.list()
    expect(items.map(({ task }) => task.id)).toEqual([allowed.id, refused.id])
    expect(items[0]).toMatchObject({ question: { ...question, about: "call" }, expiresAt: null, onExpiry: false })
    await expect(desk.inbox.answer(allowed.id, "perhaps")).rejects.toMatchObject({ code: "invalid_input" })
    expect(await desk.inbox.list()).toHaveLength(2)
    // This process only looks: the one that takes work goes on with the allowed call.
    await (await elsewhere()).inbox.answer(allowed.id, "yes")
    expect(await desk.inbox.answer(refused.id, "no, too sweet")).toMatchObject({
      status: "cancelled",
      stop: { by: "person", reason: expect.stringContaining("too sweet") as string },
    })
    const { task } = await desk.tasks.wait(allowed.id, { waitMs: 30_000, signal: new AbortController().signal })
    expect(task).toMatchObject({ status: "completed", patch: { payload: "bread" } })
  })

  test("refuses a late answer by the id of an item, also when its task asks something else by then", async () => {
    const question = { kind: "approval", text: "May it run?" } as const
    const { desk, meanwhile, gated } = await openDesks({
      permissions: { decide: () => ({ allowed: "ask", question, expiresInMs: null }) },
    })
    const { id: taskId, run } = await desk.tasks.start({ tool: "gated", input: {} })
    const first = await firstItem(desk)
    await desk.inbox.answer(first.id, true)
    await gated.call(1)
    const wait = {
      id: createWaitId(),
      reason: "person",
      question: "Once more?",
      expiresAt: null,
      onExpiry: false,
    } as const
    await meanwhile.engine.store.commit([
      { op: "task.apply", run: { taskId, run }, event: { type: "task.waited", wait } },
    ])
    await expect(desk.inbox.answer(first.id, true)).rejects.toMatchObject({ code: "wrong_state", details: { taskId } })
    expect((await desk.inbox.list()).map(({ id }) => id)).toEqual([wait.id])
  })

  test("of another workspace neither shows nor answers anything, not even by a whole id", async () => {
    const desks = await openDesks()
    const { foreign } = desks
    const { id, session } = await ask(desks, NAME)
    const item = await firstItem(desks.desk)
    expect(await foreign.inbox.list()).toEqual([])
    expect(await foreign.inbox.of(item.task.id)).toBeUndefined()
    expect(await foreign.inbox.below(id)).toEqual([])
    expect(session && (await foreign.inbox.inSession(session))).toEqual([])
    for (const known of [item.id, item.task.id, item.task.id.slice(0, 8)])
      await expect(foreign.inbox.answer(known, "stolen")).rejects.toMatchObject({ code: "not_found" })
    expect((await desks.desk.inbox.list()).map(({ id: open }) => open)).toEqual([item.id])
  })
})

describe("an inbox that is followed", () => {
  test("tells from another process what comes and what was answered, and ends with its signal", async () => {
    const desks = await openDesks()
    const there = await desks.elsewhere()
    const stop = new AbortController()
    const lists = there.inbox.follow(stop.signal)
    expect((await lists.next()).value).toEqual([])
    const { id } = await ask(desks, NAME)
    const asked = await lists.next()
    const [item] = asked.value ?? []
    expect(item).toMatchObject({ question: { text: NAME.text }, task: { parentTask: id } })
    await there.inbox.answer(item?.id ?? "", "Meanwhile")
    expect((await lists.next()).value).toEqual([])
    const { task } = await desks.desk.tasks.wait(id, { waitMs: 30_000, signal: stop.signal })
    expect(task).toMatchObject({ status: "completed", patch: { payload: ["Meanwhile"] } })
    const last = lists.next()
    stop.abort()
    expect(await last).toEqual({ done: true, value: undefined })
  })

  test("keeps the process alive, and so does a session that is followed", async () => {
    const waits: [delayMs: number, isBackground: boolean][] = []
    const clock: Clock = {
      ...systemClock,
      schedule(delayMs, callback, options) {
        waits.push([delayMs, options?.isBackground ?? false])
        return systemClock.schedule(delayMs, callback, options)
      },
    }
    const { desk } = await openDesks({ clock })
    const stop = new AbortController()
    const lists = desk.inbox.follow(stop.signal)
    await lists.next()
    waits.length = 0
    const followed = [lists.next(), desk.sessions.follow(createSessionId(), 0, stop.signal).next()]
    await eventually("both look again later", () => {
      const looks = waits.filter(([delayMs]) => delayMs === 5_000)
      return looks.length >= 2 && looks.every(([, isBackground]) => !isBackground)
    })
    stop.abort()
    expect(await Promise.all(followed)).toEqual([{ done: true }, { done: true }])
  })

  test("whose signal has aborted tells nothing, and one that is left ends by itself", async () => {
    const { desk } = await openDesks()
    expect(await Array.fromAsync(desk.inbox.follow(AbortSignal.abort()))).toEqual([])
    for await (const items of desk.inbox.follow(new AbortController().signal)) {
      expect(items).toEqual([])
      break
    }
  })
})
