import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { Runtime } from "../../src/app.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import type { Desk } from "../../src/desk/desk.ts"
import { LOCAL_PERSON } from "../../src/desk/desk-options.ts"
import type { EndedTask } from "../../src/desk/ended.ts"
import type { TaskNews } from "../../src/desk/task-news.ts"
import type { SessionId } from "../../src/task/id.ts"
import { asker, NAME } from "../support/asking.ts"
import { eventually } from "../support/eventually.ts"
import { openScripted } from "../support/session/open-agent.ts"
import { testOfFile } from "../support/test-engine.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

const ANNA = { ...LOCAL_PERSON, actor: "anna" }

/** One folder that several runtimes open, one after the other or together. */
function createPlace(folder = createFolder()) {
  const gated = createGatedTool({ obeys: true })
  const tools = [gated.tool, echo, asker]
  const open = async (): Promise<Runtime> =>
    (await openScripted(createScriptedModel(["Hello."]), { isKept: true, folder, tools })).runtime
  return { folder, gated, open }
}

/** A conversation that an actor has looked into once, so that everything that ends from then on is news. */
async function beginConversation(runtime: Runtime, ...actors: readonly (typeof LOCAL_PERSON)[]): Promise<SessionId> {
  const session = await runtime.createSession()
  await session.send("Hello.")
  for (const actor of actors) await acknowledgeAll(runtime.desk(actor), session.id)
  // A task that ends in the millisecond of the mark counts as told.
  await moveOn(runtime, runtime.desk(LOCAL_PERSON).now())
  return session.id
}

async function end(runtime: Runtime, session: SessionId | null, value: string): Promise<string> {
  const { id } = await runtime.tasks.start({ tool: "echo", input: { value }, session, notify: "silent" })
  const { task } = await runtime.tasks.result(id, { waitMs: 20_000 })
  if (!("endedAt" in task)) throw new Error("It has not ended.")
  // Ends within one millisecond have no order, and the assertions need one.
  await moveOn(runtime, task.endedAt)
  return id
}

async function endedTask(runtime: Runtime, id = ""): Promise<EndedTask> {
  const { task } = await runtime.tasks.get(id)
  if (!("endedAt" in task)) throw new Error("It has not ended.")
  return task
}

const moveOn = (runtime: Runtime, from: number): Promise<boolean> =>
  eventually("the clock moves on", () => runtime.desk(LOCAL_PERSON).now() > from)

async function acknowledgeAll({ ended }: Desk, conversation: SessionId): Promise<void> {
  for (const task of await ended.list(conversation)) ended.acknowledge(task)
  await ended.kept()
}

const idsOf = (tasks: readonly EndedTask[]): readonly string[] => tasks.map(({ id }) => id)

test("what ended while an actor was away is told once, in whichever runtime the actor comes back", async () => {
  const { open } = createPlace()
  const first = await open()
  const conversation = await beginConversation(first, LOCAL_PERSON)
  const ids = [await end(first, conversation, "one"), await end(first, conversation, "two")]
  const second = await open()
  expect(idsOf(await second.desk(LOCAL_PERSON).ended.list(conversation))).toEqual(ids)
  await acknowledgeAll(second.desk(LOCAL_PERSON), conversation)
  expect(await first.desk(LOCAL_PERSON).ended.list(conversation)).toEqual([])
  await Promise.all([first.close(), second.close()])
  const third = await open()
  expect(await third.desk(LOCAL_PERSON).ended.list(conversation)).toEqual([])
  const later = await end(third, conversation, "three")
  expect(idsOf(await third.desk(LOCAL_PERSON).ended.list(conversation))).toEqual([later])
})

test("an end that one actor was told is told to another actor all the same", async () => {
  const { open } = createPlace()
  const runtime = await open()
  const conversation = await beginConversation(runtime, LOCAL_PERSON, ANNA)
  const id = await end(runtime, conversation, "one")
  await acknowledgeAll(runtime.desk(LOCAL_PERSON), conversation)
  expect(await runtime.desk(LOCAL_PERSON).ended.list(conversation)).toEqual([])
  expect(idsOf(await runtime.desk(ANNA).ended.list(conversation))).toEqual([id])
  await acknowledgeAll(runtime.desk(ANNA), conversation)
  await runtime.close()
  const again = await open()
  expect(await again.desk(ANNA).ended.list(conversation)).toEqual([])
})

test("what an actor was told in one workspace hides nothing that ended in another", async () => {
  const runtime = await createPlace().open()
  const other = runtime.desk({ workspace: "others", actor: "person" })
  const conversation = await beginConversation(runtime, LOCAL_PERSON)
  await acknowledgeAll(other, conversation)
  // This desk's mark was set just now, and hides tasks that end in the same millisecond.
  await moveOn(runtime, other.now())
  const { id } = await other.tasks.start({ tool: "echo", input: { value: "there" } })
  // In a shared store an actor hears only of tasks of a conversation, and of tasks that were promised.
  other.ended.expect(id)
  const { task } = await other.tasks.wait(id, { waitMs: 20_000, signal: new AbortController().signal })
  await eventually("the clock moves on", () => "endedAt" in task && other.now() > task.endedAt)
  await end(runtime, conversation, "here")
  await acknowledgeAll(runtime.desk(LOCAL_PERSON), conversation)
  expect(idsOf(await other.ended.list(conversation))).toEqual([id])
})

test("an actor may have any name: an end that was told stays told", async () => {
  const { open } = createPlace()
  const runtime = await open()
  const names = ["x", "x.next", "../x", "\u{d800}", "\u{1f600}".repeat(100)].map((actor) => ({
    ...LOCAL_PERSON,
    actor,
  }))
  const conversation = await beginConversation(runtime, ...names)
  const id = await end(runtime, conversation, "one")
  await runtime.close()
  const again = await open()
  for (const actor of names) {
    expect(idsOf(await again.desk(actor).ended.list(conversation))).toEqual([id])
    await acknowledgeAll(again.desk(actor), conversation)
    expect(await again.desk(actor).ended.list(conversation)).toEqual([])
  }
})

test("a kill before an end was acknowledged shows it again; what was acknowledged before it stays told", async () => {
  const { open } = createPlace()
  const first = await open()
  const conversation = await beginConversation(first, LOCAL_PERSON)
  const ids = [await end(first, conversation, "one"), await end(first, conversation, "two")]
  // The process shows the first, and is killed while it shows the second.
  const { ended } = first.desk(LOCAL_PERSON)
  const [shown] = await ended.list(conversation)
  if (shown) ended.acknowledge(shown)
  await ended.kept()
  const second = await open()
  expect(idsOf(await second.desk(LOCAL_PERSON).ended.list(conversation))).toEqual(ids.slice(1))
})

test("an end that a screen could not show is shown by the next screen", async () => {
  const { open } = createPlace()
  const first = await open()
  const conversation = await beginConversation(first, LOCAL_PERSON)
  const failed = Promise.withResolvers<void>()
  const news = first.desk(LOCAL_PERSON).news({
    isHere: () => true,
    areReportsOn: false,
    async onNews({ type }) {
      if (type === "task.lost") failed.resolve()
      throw new Error("The terminal is gone.")
    },
  })
  const id = await end(first, conversation, "one")
  await failed.promise
  news.close()
  await first.desk(LOCAL_PERSON).ended.kept()
  expect(idsOf(await (await open()).desk(LOCAL_PERSON).ended.list(conversation))).toEqual([id])
})

test("an end that is shown late is not hidden by a later one that was shown sooner, and that one is told", async () => {
  const { open } = createPlace()
  const first = await open()
  const conversation = await beginConversation(first, LOCAL_PERSON)
  const ids = [await end(first, conversation, "one"), await end(first, conversation, "two")]
  const { ended } = first.desk(LOCAL_PERSON)
  const [, latest] = await ended.list(conversation)
  if (latest) ended.acknowledge(latest)
  await ended.kept()
  const second = await open()
  const desk = second.desk(LOCAL_PERSON)
  expect(idsOf(await desk.ended.list(conversation))).toEqual(ids.slice(0, 1))
  await acknowledgeAll(desk, conversation)
  expect(await desk.ended.list(conversation)).toEqual([])
  const later = await end(second, conversation, "three")
  expect(idsOf(await (await open()).desk(LOCAL_PERSON).ended.list(conversation))).toEqual([later])
})

test("the end of a followed task is acknowledged once it was shown, and not before", async () => {
  const { gated, open } = createPlace()
  const first = await open()
  const conversation = await beginConversation(first, LOCAL_PERSON)
  const desk = first.desk(LOCAL_PERSON)
  const shown = Promise.withResolvers<void>()
  const told: TaskNews["type"][] = []
  const news = desk.news({
    isHere: (session) => session === conversation,
    areReportsOn: false,
    async onNews({ type }) {
      told.push(type)
      await shown.promise
    },
  })
  const { id } = await first.tasks.start({ tool: "gated", input: {}, session: conversation, notify: "silent" })
  news.follow(id)
  ;(await gated.call(1)).finish()
  await eventually("its end is told", () => told.includes("task.ended"))
  const second = await open()
  expect(idsOf(await second.desk(LOCAL_PERSON).ended.list(conversation))).toEqual([id])
  shown.resolve()
  const third = await open()
  await eventually("it counts as shown", async () => {
    await desk.ended.kept()
    return (await third.desk(LOCAL_PERSON).ended.list(conversation)).length === 0
  })
  news.close()
})

test("ends that a program has shown without listing any are told, and those before them are not", async () => {
  const { open } = createPlace()
  const first = await open()
  const conversation = await beginConversation(first, LOCAL_PERSON)
  const missed = await end(first, conversation, "one")
  await first.desk(LOCAL_PERSON).ended.shown([await endedTask(first, missed)])
  expect(idsOf(await (await open()).desk(LOCAL_PERSON).ended.list(conversation))).toEqual([])
  const ids = [await end(first, conversation, "two"), await end(first, conversation, "three")]
  const second = await open()
  await second.desk(LOCAL_PERSON).ended.shown([await endedTask(second, ids[1])])
  expect(idsOf(await (await open()).desk(LOCAL_PERSON).ended.list(conversation))).toEqual([ids[0]])
})

test("the answer to a question is no news: the task that asked goes on with it", async () => {
  const runtime = await createPlace().open()
  const conversation = await beginConversation(runtime, LOCAL_PERSON)
  const desk = runtime.desk(LOCAL_PERSON)
  const { id } = await runtime.tasks.start({ tool: "asker", input: { questions: [NAME] }, session: conversation })
  const [item] = await eventually("it asks", async () => {
    const items = await desk.inbox.list()
    return items.length > 0 && items
  })
  await desk.inbox.answer(item?.id ?? "", "Ada")
  await runtime.tasks.result(id, { waitMs: 20_000 })
  expect(idsOf(await desk.ended.list(conversation))).toEqual([id])
})

testOfFile(
  "the mark that an earlier release left in the data folder counts for the person at the terminal",
  async () => {
    const { folder, open } = createPlace()
    const first = await open()
    const conversation = await beginConversation(first)
    const [before, after] = [await end(first, conversation, "one"), await end(first, conversation, "two")]
    const { task } = await first.tasks.get(before)
    if (!("endedAt" in task)) throw new Error("It has not ended.")
    writeFileSync(join(folder, "data", "announced"), `${task.endedAt}\n`)
    const second = await open()
    expect(idsOf(await second.desk(LOCAL_PERSON).ended.list(conversation))).toEqual([after])
    expect(await second.desk(ANNA).ended.list(conversation)).toEqual([])
  },
)
