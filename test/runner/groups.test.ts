import { expect, test } from "vitest"
import { createSessionId, type WorkspaceId } from "../../src/task/id.ts"
import type { TaskRecord } from "../../src/task/record.ts"
import { createGroupDesk } from "../support/group-desk.ts"

test("a group is opened once by its name in a session, however many ask at once", async () => {
  const { runner, session } = await createGroupDesk()
  const opened = await Promise.all(Array.from({ length: 10 }, () => runner.groups.open({ name: "checks", session })))
  expect(new Set(opened.map(({ id }) => id)).size).toBe(1)
  const elsewhere = await runner.groups.open({ name: "checks", session: createSessionId() })
  expect(elsewhere.id).not.toBe(opened[0]?.id)
  expect(await runner.groups.list({ session })).toHaveLength(1)
})

test("a name can be used again once its group is sealed, and then means the newest", async () => {
  const { runner, session, clock } = await createGroupDesk()
  const first = await runner.groups.open({ name: "checks", session })
  await runner.groups.seal(first.id)
  clock.advance(1)
  const second = await runner.groups.open({ name: "checks", session })
  expect(second.id).not.toBe(first.id)
  expect((await runner.groups.get("checks", { session })).id).toBe(second.id)
  expect((await runner.groups.get(first.id.slice(0, 8))).id).toBe(first.id)
})

test("an open group cannot be asked for as something else, and a request that makes no sense is refused", async () => {
  const { runner, session } = await createGroupDesk()
  const { open } = runner.groups
  await open({ name: "checks", session, join: "any" })
  await expect(open({ name: "checks", session, join: "all" })).rejects.toMatchObject({ code: "invalid_input" })
  expect((await open({ name: "checks", session })).join).toBe("any")
  for (const wrong of [
    { name: " " },
    { name: "x", join: 0 },
    { name: "x", report: "loud" },
    { name: "x", merge: "no" },
  ])
    await expect(open(wrong as never)).rejects.toMatchObject({ code: "invalid_input" })
})

test("groups of another session or workspace are not found", async () => {
  const { runner, session } = await createGroupDesk()
  const { id } = await runner.groups.open({ name: "checks", session })
  const other = { session: createSessionId() }
  for (const name of [id, id.slice(0, 8), "checks"])
    await expect(runner.groups.cancel(name, {}, other)).rejects.toMatchObject({ code: "not_found" })
  const elsewhere = { workspace: "elsewhere" as WorkspaceId }
  await expect(runner.groups.get(id, elsewhere)).rejects.toMatchObject({ code: "not_found" })
  expect(await runner.groups.list(elsewhere)).toEqual([])
  expect((await runner.groups.get(id, { session })).state).toBe("open")
})

test("a short id that could be several groups lists them", async () => {
  const { runner, session } = await createGroupDesk()
  const groups = await Promise.all(
    Array.from({ length: 17 }, (_, index) => runner.groups.open({ name: `number ${index}`, session })),
  )
  const ids = groups.map(({ id }) => id)
  const shared = ids.find((id) => ids.some((other) => other !== id && other[0] === id[0])) ?? ""
  await expect(runner.groups.get(shared.slice(0, 1))).rejects.toMatchObject({
    code: "ambiguous_id",
    message: expect.stringContaining(shared) as string,
  })
})

test("a sealed group takes no more members, is sealed only once, and joins when its members have ended", async () => {
  const desk = await createGroupDesk()
  const { runner, session } = desk
  const { id } = await runner.groups.open({ name: "checks", session })
  await desk.start("one", { group: id })
  expect((await runner.groups.seal("checks", { session })).state).toBe("sealed")
  expect((await runner.groups.seal(id)).state).toBe("sealed")
  await expect(desk.start("late", { group: id })).rejects.toMatchObject({ code: "wrong_state" })
  await desk.finish("one")
  await desk.until(id, "joined")
  expect((await runner.groups.seal(id)).state).toBe("joined")
})

test("after a turn the open groups of its session are sealed, and no others", async () => {
  const desk = await createGroupDesk()
  const { runner, session } = desk
  const mine = await runner.groups.open({ name: "mine", session })
  const other = await runner.groups.open({ name: "mine", session: createSessionId() })
  await desk.start("one", { group: mine.id })
  const sealed = await runner.sealGroups(session)
  expect(sealed.map(({ id, state }) => [id, state])).toEqual([[mine.id, "sealed"]])
  expect((await runner.groups.get(other.id)).state).toBe("open")
  expect(await runner.sealGroups(session)).toEqual([])
})

test("D9: a member of a group that is retried counts once", async () => {
  const desk = await createGroupDesk()
  const { runner, session } = desk
  const { id } = await runner.groups.open({ name: "checks", session })
  const one = await desk.start("one", { group: id })
  const two = await desk.start("two", { group: id })
  await runner.groups.seal(id)
  await desk.fail("one")
  await runner.result(one.id, { waitMs: 1e9 })
  await runner.retry(one.id)
  await desk.call("one", 2)
  await desk.finish("two")
  await runner.result(two.id, { waitMs: 1e9 })
  expect(await runner.groups.get(id)).toMatchObject({ state: "sealed", arrivals: [{ taskId: two.id }] })
  ;(await desk.call("one", 2)).finish("again")
  await desk.until(id, "joined")
  expect(await runner.groups.get(id)).toMatchObject({
    memberCount: 2,
    arrivals: [
      { taskId: one.id, run: 2, status: "completed" },
      { run: 1, status: "completed" },
    ],
  })
})

test("cancelling a group stops its members wherever they are, at once and with the reason", async () => {
  const desk = await createGroupDesk({ background: { maxConcurrentTasks: 1 } })
  const { runner, session, engine } = desk
  const { id } = await runner.groups.open({ name: "checks", session })
  const running = await desk.start("one", { group: id })
  const queued = await desk.start("two", { group: id })
  const other = await desk.start("three")
  const { context } = await desk.call("one")
  expect(await runner.groups.cancel("checks", { by: "model", reason: "no longer needed" }, { session })).toMatchObject({
    state: "cancelled",
  })
  expect(context.signal.aborted).toBe(true)
  expect(await engine.store.task(queued.id)).toMatchObject({ status: "cancelled", stop: { by: "model" } })
  const { task } = await runner.result(running.id, { waitMs: 1e9 })
  expect(task).toMatchObject({ status: "cancelled", stop: { by: "model", reason: "no longer needed" } })
  expect((await runner.groups.cancel(id)).state).toBe("cancelled")
  await desk.finish("three")
  expect((await runner.result(other.id, { waitMs: 1e9 })).task.status).toBe("completed")
})

test("a member that enters while its group is cancelled is cancelled with it", async () => {
  const desk = await createGroupDesk()
  const { runner, session, engine } = desk
  const { id } = await runner.groups.open({ name: "checks", session })
  const early = await desk.start("early", { group: id })
  const { commit } = engine.store
  const entered: TaskRecord[] = []
  const commitAfterEntry: typeof commit = async (operations) => {
    const isCancel = operations.some((operation) => operation.op === "group.move" && operation.to === "cancelled")
    if (isCancel && entered.length < 2) entered.push(await desk.start(`late ${entered.length}`, { group: id }))
    return commit(operations)
  }
  Object.assign(engine.store, { commit: commitAfterEntry })
  expect(await runner.groups.cancel(id, { reason: "no longer needed" })).toMatchObject({
    state: "cancelled",
    memberCount: 3,
  })
  expect(entered).toHaveLength(2)
  for (const member of [early, ...entered]) {
    const { task } = await runner.result(member.id, { waitMs: 1e9 })
    expect(task).toMatchObject({ status: "cancelled", stop: { reason: "no longer needed" } })
  }
  await expect(desk.start("too late", { group: id })).rejects.toMatchObject({ code: "wrong_state" })
})

test("members that are started while their group is cancelled do not stay running", async () => {
  const desk = await createGroupDesk({ background: { maxConcurrentPerPlugin: 20 } })
  const { runner, session, engine } = desk
  const { id } = await runner.groups.open({ name: "checks", session })
  const starting = Array.from({ length: 20 }, (_, index) => desk.start(`task ${index}`, { group: id }))
  const [starts] = await Promise.all([Promise.allSettled(starting), runner.groups.cancel(id)])
  for (const start of starts) {
    if (start.status === "rejected") expect(start.reason).toMatchObject({ code: "wrong_state" })
    else expect((await runner.result(start.value.id, { waitMs: 1e9 })).task.status).toBe("cancelled")
  }
  expect(await engine.store.countTasks({ group: id, statuses: ["queued", "waiting", "running"] })).toBe(0)
})

test("a member that ends while its group is cancelled keeps its end", async () => {
  const desk = await createGroupDesk({ background: { maxConcurrentPerPlugin: 8 } })
  const { runner, session } = desk
  const { id } = await runner.groups.open({ name: "checks", session })
  const names = Array.from({ length: 8 }, (_, index) => `task ${index}`)
  const tasks = await Promise.all(names.map((name) => desk.start(name, { group: id })))
  const begun = await Promise.all(names.slice(0, 4).map((name) => desk.call(name)))
  for (const call of begun) call.finish("done")
  await runner.groups.cancel(id)
  const ends = await Promise.all(tasks.map((task) => runner.result(task.id, { waitMs: 1e9 })))
  expect(ends.map(({ task }) => task.status).every((status) => ["completed", "cancelled"].includes(status))).toBe(true)
  expect((await runner.groups.get(id)).state).toBe("cancelled")
})

test("cancelling a group that is joined stops the members that it did not wait for", async () => {
  const desk = await createGroupDesk()
  const { runner, session } = desk
  const { id } = await runner.groups.open({ name: "race", session, join: "any" })
  const first = await desk.start("first", { group: id })
  const second = await desk.start("second", { group: id })
  await desk.call("second")
  await runner.groups.seal(id)
  await desk.finish("first")
  await desk.until(id, "joined")
  expect(await runner.groups.cancel(id)).toMatchObject({ state: "joined" })
  expect((await runner.result(second.id, { waitMs: 1e9 })).task.status).toBe("cancelled")
  expect((await runner.get(first.id)).task.status).toBe("completed")
  await expect(runner.groups.cancel(id)).rejects.toMatchObject({ code: "wrong_state" })
})

test("a joined group whose members have ended has nothing to cancel", async () => {
  const desk = await createGroupDesk()
  const { id } = await desk.runner.groups.open({ name: "checks", session: desk.session })
  await desk.runner.groups.seal(id)
  await expect(desk.runner.groups.cancel(id)).rejects.toMatchObject({ code: "wrong_state" })
})
