import { expect, test } from "vitest"
import { z } from "zod"
import { defineTool, type Tool } from "../../src/plugin/tool.ts"
import type { WaitAnswer } from "../../src/plugin/wait-request.ts"
import { eventually } from "../support/eventually.ts"
import { createGroupDesk, type GroupDesk } from "../support/group-desk.ts"

const LONG_MS = 1e9

async function openPair({ runner, session, start }: GroupDesk, more = {}) {
  const { id } = await runner.groups.open({ name: "pair", session, ...more })
  const one = await start("one", { group: id })
  const two = await start("two", { group: id })
  return { id, one, two }
}

test("a wait for a group ends when it is joined, with every member", async () => {
  const desk = await createGroupDesk()
  const { id, one, two } = await openPair(desk)
  const wait = desk.runner.waitFor({ group: id, limitMs: LONG_MS })
  await desk.finish("one")
  await desk.fail("two")
  await desk.runner.waitFor({ tasks: [one.id, two.id], limitMs: LONG_MS })
  await desk.runner.groups.seal(id)
  expect(await wait).toMatchObject({
    reason: "met",
    group: { id, state: "joined" },
    tasks: [
      { task: { id: one.id, status: "completed" } },
      { task: { id: two.id, status: "failed", failure: { message: "two broke" } } },
    ],
  })
})

test("a wait for a group may ask for fewer or for more than the group does", async () => {
  const desk = await createGroupDesk()
  const { id } = await openPair(desk, { join: "any" })
  await desk.runner.groups.seal(id)
  const asItSays = desk.runner.waitFor({ group: id, limitMs: LONG_MS })
  const all = desk.runner.waitFor({ group: id, until: "all", limitMs: LONG_MS })
  await desk.finish("one")
  expect((await asItSays).tasks.map(({ task }) => task.status)).toEqual(["completed", "running"])
  await desk.finish("two")
  expect((await all).tasks.map(({ task }) => task.status)).toEqual(["completed", "completed"])
})

test("the end of any member of an open group is enough for a wait for any", async () => {
  const desk = await createGroupDesk()
  const { id } = await openPair(desk)
  const wait = desk.runner.waitFor({ group: id, until: "any", limitMs: LONG_MS })
  await desk.finish("two")
  expect(await wait).toMatchObject({ reason: "met", group: { state: "open" } })
})

test("C7: cancelling a group releases whoever waits for it", async () => {
  const desk = await createGroupDesk()
  const { id } = await openPair(desk)
  const empty = await desk.runner.groups.open({ name: "empty" })
  const waits = [id, empty.id].map((group) => desk.runner.waitFor({ group, limitMs: LONG_MS }))
  await desk.runner.groups.cancel(id)
  await desk.runner.groups.cancel(empty.id)
  for (const answer of await Promise.all(waits)) {
    expect(answer).toMatchObject({ reason: "cancelled", group: { state: "cancelled" } })
  }
})

test("results of a gated group are not told before a person has decided", async () => {
  const desk = await createGroupDesk()
  const { id, one, two } = await openPair(desk, { merge: "human_gated" })
  await desk.runner.groups.seal(id)
  await desk.finish("one")
  await desk.finish("two")
  const asked = await desk.runner.waitFor({ group: id, limitMs: LONG_MS, consume: true })
  expect(asked.reason).toBe("needs_answer")
  expect(asked.tasks.map(({ task }) => [task.tool, task.status])).toEqual([["apply_results", "waiting"]])
  const pending = async () => (await desk.engine.store.notices({ states: ["pending"] }, 9)).map(({ taskId }) => taskId)
  expect(await pending()).toEqual(expect.arrayContaining([one.id, two.id]))
  await desk.runner.groups.decide(id, "apply", "me")
  const applied = await desk.runner.waitFor({ group: id, limitMs: LONG_MS, consume: true })
  expect(applied.reason).toBe("met")
  expect(applied.tasks.map(({ task }) => task.tool)).toEqual(["apply_results", "gated", "gated"])
  expect(await pending()).toEqual([])
})

test("rejected results are not told by the wait, and by nobody else either", async () => {
  const desk = await createGroupDesk()
  const { id } = await openPair(desk, { merge: "human_gated" })
  await desk.runner.groups.seal(id)
  await desk.finish("one")
  await desk.finish("two")
  await desk.until(id, "joined")
  await desk.runner.groups.decide(id, "reject", "me")
  const answer = await desk.runner.waitFor({ group: "pair", limitMs: LONG_MS, consume: true })
  expect(answer.tasks.map(({ task }) => [task.tool, task.status])).toEqual([["apply_results", "cancelled"]])
  expect(await desk.engine.store.notices({ states: ["pending"] }, 9)).toEqual([])
})

/** Waits for the group of its own session, which is open until the turn ends. */
function createOwnGroupTool(onAnswer: (answer: WaitAnswer) => void): Tool {
  return defineTool({
    name: "own_group",
    description: "Starts two tasks in a group and waits for it.",
    input: z.object({}),
    background: { mode: "always" },
    async run(_input, { tasks }) {
      const { id } = await tasks.groups.open({ name: "own" })
      for (const name of ["one", "two"]) await tasks.start({ tool: "gated", input: { name }, group: id })
      onAnswer(await tasks.waitFor({ group: "own", limitMs: LONG_MS, consume: true }))
      return null
    },
  })
}

test("a run waits for the members of its own open group, and uses what is addressed to its session", async () => {
  const answers: WaitAnswer[] = []
  const desk = await createGroupDesk({ tools: [createOwnGroupTool((answer) => answers.push(answer))] })
  await desk.runner.start({ tool: "own_group", input: {}, session: desk.session })
  await desk.finish("two")
  expect(answers).toEqual([])
  await desk.finish("one")
  const answer = await eventually("the wait is over", () => answers[0])
  expect(answer).toMatchObject({ reason: "met", group: { state: "open", session: desk.session } })
  const used = await desk.engine.store.notices({ states: ["consumed"] }, 9)
  expect(new Set(used.map(({ taskId }) => taskId))).toEqual(new Set(answer.tasks.map(({ task }) => task.id)))
})
