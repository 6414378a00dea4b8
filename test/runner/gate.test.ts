import { expect, test } from "vitest"
import { groupOfGate } from "../../src/runner/tool/tool-source.ts"
import type { GroupId } from "../../src/task/id.ts"
import type { WaitRecord } from "../../src/task/wait.ts"
import { eventually } from "../support/eventually.ts"
import { createGroupDesk, type GroupDesk } from "../support/group-desk.ts"

/** Three members of a gated group, the last of which fails. */
async function joinGated(desk: GroupDesk): Promise<GroupId> {
  const { runner, session } = desk
  const { id } = await runner.groups.open({ name: "answers", session, merge: "human_gated" })
  for (const name of ["one", "two", "three"]) await desk.start(name, { group: id, ...(name === "two" && { hops: 2 }) })
  await runner.groups.seal(id)
  await desk.finish("one", "first answer")
  await desk.finish("two", "second answer")
  await desk.fail("three")
  await desk.until(id, "joined")
  return id
}

async function question({ engine }: GroupDesk): Promise<WaitRecord> {
  return eventually("somebody is asked", async () => (await engine.store.waits({ isOpen: true }))[0])
}

test("C6: three gated tasks ask one approval, which holds what each came to", async () => {
  const desk = await createGroupDesk()
  const group = await joinGated(desk)
  const wait = await question(desk)
  desk.clock.advance(20_000)
  expect(await desk.engine.store.waits({ isOpen: true })).toHaveLength(1)
  const gate = await desk.engine.store.task(wait.taskId)
  expect(gate).toMatchObject({ status: "waiting", session: desk.session, tool: "apply_results", metadata: { hops: 2 } })
  expect(gate && groupOfGate(gate)).toBe(group)
  expect(wait).toMatchObject({ reason: "approval", question: { group, options: [true, false] } })
  const { detail, text } = wait.question as { detail: string; text: string }
  expect(text).toContain("answers")
  expect(detail.split("\n")).toEqual([
    "one: completed. first answer",
    "two: completed. second answer",
    "three: failed (three broke)",
  ])
})

test("applying ends the gate with what every member came to, and says who failed", async () => {
  const desk = await createGroupDesk({ background: { maxConcurrentTasks: 1 } })
  const group = await joinGated(desk)
  await desk.start("busy")
  const { taskId } = await question(desk)
  expect((await desk.runner.groups.decide("answers", "apply", "me", { session: desk.session })).id).toBe(group)
  const { task } = await desk.runner.get(taskId)
  expect(task).toMatchObject({
    status: "completed",
    patch: {
      digest: ["one: completed. first answer", "two: completed. second answer", "three: failed (three broke)"],
      payload: {
        group: "answers",
        members: [{ payload: "first answer" }, { payload: "second answer" }, { status: "failed", payload: null }],
      },
    },
  })
})

test("rejecting cancels the gate, and nobody can decide again, retry it or call it", async () => {
  const desk = await createGroupDesk()
  const group = await joinGated(desk)
  const { taskId } = await question(desk)
  await desk.runner.groups.decide(group, "reject", "me")
  expect((await desk.runner.get(taskId)).task).toMatchObject({
    status: "cancelled",
    stop: { by: "person", reason: "its results were rejected" },
    patch: null,
  })
  await expect(desk.runner.groups.decide(group, "apply", "me")).rejects.toMatchObject({ code: "wrong_state" })
  await desk.runner.retry(taskId).catch(() => {})
  const { task } = await desk.runner.result(taskId, { waitMs: 1e9 })
  expect(task).not.toHaveProperty("status", "completed")
  const called = desk.runner.execute({ plugin: "#runtime", tool: "apply_results", input: { group } })
  const answer = await called.answer.catch((error: unknown) => error)
  expect(answer).not.toHaveProperty("outcome", "completed")
})

test("a group that has its gate is not read again by the slow look", async () => {
  const desk = await createGroupDesk()
  const group = await joinGated(desk)
  await question(desk)
  const { store } = desk.engine
  const groups = store.groups.bind(store)
  const looks: GroupId[][] = []
  Object.assign(store, {
    async groups(...filter: Parameters<typeof groups>) {
      const found = await groups(...filter)
      looks.push(found.map(({ id }) => id))
      return found
    },
  })
  await eventually("it is looked for groups again", () => {
    desk.clock.advance(1_000)
    return looks.length >= 4
  })
  expect(looks.flat()).not.toContain(group)
})

test("an answer from the inbox decides as well, and the first one counts", async () => {
  const desk = await createGroupDesk()
  const group = await joinGated(desk)
  const { id, taskId } = await question(desk)
  const [one, other] = await Promise.allSettled([
    desk.runner.answer(id, true, "me"),
    desk.runner.groups.decide(group, "reject", "somebody else"),
  ])
  expect([one.status, other.status].toSorted()).toEqual(["fulfilled", "rejected"])
  const expected = one.status === "fulfilled" ? "completed" : "cancelled"
  expect((await desk.runner.get(taskId)).task.status).toBe(expected)
})

test("results that nobody decided on in time are not used", async () => {
  const desk = await createGroupDesk({ background: { questionExpirySeconds: 60 } })
  await joinGated(desk)
  const { taskId } = await question(desk)
  desk.clock.advance(59_000)
  expect((await desk.runner.get(taskId)).task.status).toBe("waiting")
  const { task } = await desk.passTime(desk.runner.result(taskId, { waitMs: 1e9 }))
  expect(task).toMatchObject({ status: "cancelled", stop: { by: "limit" } })
})

test("there is nothing to decide about a group that is open, empty or not gated", async () => {
  const desk = await createGroupDesk()
  const { groups } = desk.runner
  const open = await groups.open({ name: "open", session: desk.session, merge: "human_gated" })
  const empty = await groups.seal((await groups.open({ name: "empty", merge: "human_gated" })).id)
  const plain = await groups.seal((await groups.open({ name: "plain" })).id)
  for (const { id } of [open, empty, plain])
    await expect(groups.decide(id, "apply", "me")).rejects.toMatchObject({ code: "wrong_state" })
  desk.clock.advance(10_000)
  expect(await desk.engine.store.waits({ isOpen: true })).toEqual([])
})
