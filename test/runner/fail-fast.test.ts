import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { createGroupDesk } from "../support/group-desk.ts"

test("the first member that does not complete stops the others, whose reasons name it", async () => {
  const desk = await createGroupDesk()
  const { runner, session } = desk
  const { id } = await runner.groups.open({ name: "checks", session, failFast: true })
  const done = await desk.start("done", { group: id })
  const failing = await desk.start("lint", { group: id })
  const other = await desk.start("other", { group: id })
  await runner.groups.seal(id)
  await desk.finish("done")
  await runner.result(done.id, { waitMs: 1e9 })
  await desk.call("other")
  await desk.fail("lint")
  const { task } = await runner.result(other.id, { waitMs: 1e9 })
  expect(task).toMatchObject({ status: "cancelled", stop: { by: "limit" } })
  expect(task.status === "cancelled" && task.stop.reason).toContain(`lint (${failing.id.slice(0, 8)}) ended failed`)
  await desk.until(id, "joined")
  expect((await runner.get(done.id)).task.status).toBe("completed")
})

test("a group without failFast goes on without the member that failed", async () => {
  const desk = await createGroupDesk()
  const { runner, session, clock } = desk
  const { id } = await runner.groups.open({ name: "checks", session })
  const failing = await desk.start("lint", { group: id })
  const other = await desk.start("other", { group: id })
  await runner.groups.seal(id)
  await desk.fail("lint")
  await runner.result(failing.id, { waitMs: 1e9 })
  clock.advance(10_000)
  await desk.finish("other")
  expect((await runner.result(other.id, { waitMs: 1e9 })).task.status).toBe("completed")
})

test("a member that is started into an open group that has failed is stopped, too", async () => {
  const desk = await createGroupDesk()
  const { runner, session } = desk
  const { id } = await runner.groups.open({ name: "checks", session, failFast: true })
  const failing = await desk.start("lint", { group: id })
  await desk.fail("lint")
  await runner.result(failing.id, { waitMs: 1e9 })
  const late = await desk.start("late", { group: id })
  expect((await runner.result(late.id, { waitMs: 1e9 })).task).toMatchObject({
    status: "cancelled",
    stop: { by: "limit" },
  })
})

test("the member that failed can run again before the group is sealed", async () => {
  const desk = await createGroupDesk()
  const { runner, session, clock } = desk
  const { id } = await runner.groups.open({ name: "checks", session, failFast: true })
  const failing = await desk.start("lint", { group: id })
  const other = await desk.start("other", { group: id })
  await desk.call("other")
  await desk.fail("lint")
  await runner.result(other.id, { waitMs: 1e9 })
  await runner.retry(failing.id)
  const again = await desk.call("lint", 2)
  clock.advance(10_000)
  again.finish("fixed")
  expect((await runner.result(failing.id, { waitMs: 1e9 })).task).toMatchObject({ status: "completed", run: 2 })
})

test("a member that was stopped for another's failure stops no member once the other runs again", async () => {
  const desk = await createGroupDesk()
  const { runner, session, engine } = desk
  const { id } = await runner.groups.open({ name: "checks", session, failFast: true })
  const failing = await desk.start("lint", { group: id })
  const stopped = await desk.start("stopped", { group: id })
  await desk.call("stopped")
  await desk.fail("lint")
  await runner.result(stopped.id, { waitMs: 1e9 })
  await runner.retry(failing.id)
  const again = await desk.call("lint", 2)

  // Each look at the group reads the stopped member to see why it ended. A look that is followed by another is over.
  const { store } = engine
  const read = store.task.bind(store)
  let looks = 0
  store.task = (taskId) => {
    if (taskId === stopped.id) looks += 1
    return read(taskId)
  }
  for (let count = 1; count <= 2; count++) {
    await desk.start(`more ${count}`, { group: id })
    await eventually("the group was looked at", () => looks >= count)
  }
  await desk.finish("more 1")
  await desk.finish("more 2")
  expect(again.context.signal.aborted).toBe(false)
  again.finish("fixed")
  expect((await runner.result(failing.id, { waitMs: 1e9 })).task).toMatchObject({ status: "completed", run: 2 })
})
