import { join } from "node:path"
import { expect, onTestFinished, test, vi } from "vitest"
import { createEnded } from "../../src/desk/ended.ts"
import { createIdFiles } from "../../src/desk/id-files.ts"
import { createSessionAncestors } from "../../src/desk/session-ancestors.ts"
import { createStoredMarks } from "../../src/desk/told-marks.ts"
import { createScriptedModel } from "../../src/builtin/scripted/scripted-model.ts"
import { definePlugin } from "../../src/plugin/define-plugin.ts"
import {
  createSessionId,
  createTaskId,
  DEFAULT_WORKSPACE,
  type SessionId,
  type TaskId,
  type WorkspaceId,
} from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { openTestRuntime } from "../support/test-engine.ts"
import { createGatedTool } from "../support/tools.ts"
import { createFolder } from "../support/workplace.ts"

/** A store with one conversation, and chats of it in as many folders as are opened. */
async function openConversation() {
  const gated = createGatedTool()
  const plugins = [definePlugin({ kind: "tool", name: "test", tools: [gated.tool] })]
  const dataDirectory = join(createFolder(), "data")
  const model = createScriptedModel(["Hello.", "Hello."])
  const runtime = await openTestRuntime({ dataDirectory, model, plugins })
  onTestFinished(() => runtime.close())
  async function begin(): Promise<SessionId> {
    const session = await runtime.createSession()
    await session.send("Hello.")
    // A task that ends in the millisecond in which its conversation began counts as told.
    const begunAt = runtime.engine.now()
    await eventually("the clock moves on", () => runtime.engine.now() > begunAt)
    return session.id
  }
  return {
    conversation: await begin(),
    begin,
    tasks: runtime.tasks,
    async createSession(parent: SessionId | null) {
      const create = {
        op: "session.create",
        id: createSessionId(),
        workspace: DEFAULT_WORKSPACE,
        parent,
        data: {},
      } as const
      await runtime.engine.store.commit([create])
      return create.id
    },
    async end(of: SessionId | null) {
      const number = gated.calls.length + 1
      const { id } = await runtime.tasks.start({ tool: "gated", input: {}, session: of })
      ;(await gated.call(number)).finish()
      const { task } = await runtime.tasks.result(id, { waitMs: 10_000 })
      if (!("endedAt" in task)) throw new Error("It has not ended.")
      // Ends within one millisecond have no order.
      await eventually("the clock moves on", () => runtime.engine.now() > task.endedAt)
      return task
    },
    remove: () => runtime.tasks.clear({}),
    openIn(folder: string, workspace = DEFAULT_WORKSPACE) {
      const { store } = runtime.engine
      return createEnded({
        workspace,
        store,
        tasks: runtime.tasks,
        marks: createStoredMarks(store, { workspace, actor: "person" }),
        ancestorsOf: createSessionAncestors(store),
        now: () => runtime.engine.now(),
        expected: createIdFiles<TaskId>(folder),
      })
    },
  }
}

const idsOf = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id)

test("what ended in a conversation is missed until one of its chats has announced it, whichever folder that is in", async () => {
  const { conversation, end, openIn } = await openConversation()
  const [first, second] = [openIn(createFolder()), openIn(createFolder())]
  const ended = await end(conversation)
  expect(idsOf(await second.list(conversation))).toEqual([ended.id])
  first.acknowledge(ended)
  second.acknowledge(ended)
  await Promise.all([first.kept(), second.kept()])
  expect(await openIn(createFolder()).list(conversation)).toEqual([])
})

test("an end that a program has shown in a conversation is told in that one, and in no other", async () => {
  const { conversation, begin, end, openIn } = await openConversation()
  const other = await begin()
  const [missed, ended, theirs] = [await end(conversation), await end(conversation), await end(other)]
  await openIn(createFolder()).shown([ended])
  expect(idsOf(await openIn(createFolder()).list(conversation))).toEqual([missed.id])
  expect(idsOf(await openIn(createFolder()).list(other))).toEqual([theirs.id])
})

test("what was missed in a conversation and in agents below it is found without a look at other conversations", async () => {
  const { conversation, end, openIn, createSession, tasks } = await openConversation()
  const [below, other] = [await createSession(conversation), await createSession(null)]
  const [first, second] = [await end(conversation), await end(below)]
  await end(other)
  const list = vi.spyOn(tasks, "list")
  expect(idsOf(await openIn(createFolder()).list(conversation))).toEqual([first.id, second.id])
  const read = await Promise.all(list.mock.results.map(({ value }) => value as ReturnType<typeof tasks.list>))
  expect(idsOf(read.flatMap(({ items }) => items)).toSorted()).toEqual([first.id, second.id].toSorted())
})

test("a task without a conversation is missed where its end was promised, until it was announced or removed", async () => {
  const { conversation, end, openIn, remove } = await openConversation()
  const folder = createFolder()
  const [ended, removed] = [await end(null), await end(null)]
  for (const { id } of [ended, removed]) openIn(folder).expect(id)
  expect(idsOf(await openIn(folder).list(conversation))).toEqual([ended.id, removed.id])
  expect(await openIn(createFolder()).list(conversation)).toEqual([])
  openIn(folder).acknowledge(ended)
  expect(idsOf(await openIn(folder).list(conversation))).toEqual([removed.id])
  await remove()
  expect(await openIn(folder).list(conversation)).toEqual([])
  expect(await openIn(folder).isTold({ id: removed.id, session: null }, () => false)).toBe(false)
})

test("an end that was promised in one workspace is not shown in another one that uses the same folder", async () => {
  const { conversation, end, openIn } = await openConversation()
  const folder = createFolder()
  const ended = await end(null)
  openIn(folder).expect(ended.id)
  expect(await openIn(folder, "others" as WorkspaceId).list(conversation)).toEqual([])
  expect(idsOf(await openIn(folder).list(conversation))).toEqual([ended.id])
})

const BEYOND = { id: createTaskId(), endedAt: 9 }

test("a deleted conversation takes along what each actor was told of it, and leaves the marks of others", async () => {
  const runtime = await openTestRuntime({
    dataDirectory: join(createFolder(), "data"),
    model: createScriptedModel(["Hello.", "Hello."]),
  })
  onTestFinished(() => runtime.close())
  const { store } = runtime.engine
  const workspace = DEFAULT_WORKSPACE
  const [deleted, kept] = [await runtime.createSession(), await runtime.createSession()]
  for (const session of [deleted, kept]) {
    await session.send("Hello.")
    for (const actor of ["person", "mia"])
      await createStoredMarks(store, { workspace, actor }).raise(session.id, { until: 7, beyond: [BEYOND] })
  }
  await runtime.sessions.delete(deleted.id)
  const marks = await store.documents(workspace, "announced")
  expect(idsOf(marks).toSorted()).toEqual(
    [kept.id, `${kept.id}/mia`, `${kept.id}/mia.beyond`, `${kept.id}/person.beyond`].toSorted(),
  )
  // What a program of an earlier version reads, and raises, stays a time.
  expect(marks.find(({ id }) => id === kept.id)?.value).toBe(7)
  const read = await createStoredMarks(store, { workspace, actor: "person" }).read(kept.id)
  expect(read).toEqual({ until: 7, beyond: [BEYOND] })
})
