import { expect, test } from "vitest"
import type { ToolContext } from "../../src/plugin/context.ts"
import { createGroupDesk, type GroupDesk } from "../support/group-desk.ts"

const LONG_MS = 1e9

/** A member of a gated group that has printed something and ended, and the ports of a run of its conversation. */
async function openGated(desk: GroupDesk) {
  const { runner, session } = desk
  const group = await runner.groups.open({ name: "answers", session, merge: "human_gated" })
  const { id } = await desk.start("one", { group: group.id })
  const { context } = await desk.call("one")
  context.output.write("printed secretly")
  const { hash } = await context.artifacts.put("kept", "text/plain", Buffer.from("kept secretly"))
  await desk.finish("one", "first answer")
  await runner.groups.seal(group.id)
  await desk.until(group.id, "joined")
  void runner.execute({ tool: "gated", input: { name: "reader" }, session })
  const { tasks } = (await desk.call("reader")).context
  return { id, group: group.id, tasks, hash }
}

/** All that a model could read of a task by its id. */
async function readAll(tasks: ToolContext["tasks"], id: string): Promise<string> {
  const views = [await tasks.get(id), await tasks.result(id, { consume: true })]
  const waited = await tasks.waitFor({ tasks: [id], limitMs: LONG_MS, consume: true })
  const output = await tasks.output(id).catch((error: unknown) => String(error))
  return JSON.stringify([views, waited, output])
}

async function isUnused({ engine }: GroupDesk, id: string): Promise<boolean> {
  return (await engine.store.notices({ states: ["pending"] }, 9)).some(({ taskId }) => taskId === id)
}

test("a result that a person decides on can be read by its id after they said yes, and not before", async () => {
  const desk = await createGroupDesk()
  const { id, group, tasks } = await openGated(desk)
  const before = await readAll(tasks, id)
  expect(before).toContain("A person decides whether this result is used")
  expect(before).not.toContain("first answer")
  expect(before).not.toContain("printed secretly")
  expect(await isUnused(desk, id)).toBe(true)
  await desk.runner.groups.decide(group, "apply", "ada")
  const after = await readAll(tasks, id)
  expect(after).toContain("first answer")
  expect(after).toContain("printed secretly")
  expect(await isUnused(desk, id)).toBe(false)
})

test("a run cannot read a rejected result, and a wait that tells of it settles it; the person can still see it", async () => {
  const desk = await createGroupDesk()
  const { id, group, tasks } = await openGated(desk)
  await desk.runner.groups.decide(group, "reject", "ada")
  expect(await readAll(tasks, id)).not.toContain("first answer")
  expect((await desk.runner.get(id)).task).toMatchObject({ patch: { payload: "first answer" } })
  expect(await isUnused(desk, id)).toBe(true)
  await tasks.waitFor({ group, limitMs: LONG_MS })
  expect(await isUnused(desk, id)).toBe(false)
})

test("an artifact of a result that a person decides on is read by its hash after they said yes, and not before", async () => {
  const desk = await createGroupDesk()
  const { group, tasks, hash } = await openGated(desk)
  await expect(tasks.artifact(hash)).rejects.toMatchObject({ code: "wrong_state" })
  expect(Buffer.from((await desk.runner.artifact(hash)).bytes).toString()).toBe("kept secretly")
  await desk.runner.groups.decide(group, "apply", "ada")
  expect(Buffer.from((await tasks.artifact(hash)).bytes).toString()).toBe("kept secretly")
})
