import { expect, test } from "vitest"
import type { TaskId } from "../../src/task/id.ts"
import { createGroupDesk, type GroupDesk } from "../support/group-desk.ts"

const ONE_SLOT = { background: { maxConcurrentTasks: 1 } }

/** A call in the foreground that waits for others, below `parentTask` or below nothing. */
async function beginWaiting(desk: GroupDesk, parentTask: TaskId | null = null) {
  const { session } = desk
  const call = desk.runner.execute({ tool: "gated", input: { name: "waiting" }, session, parentTask })
  await desk.call("waiting")
  return { call, goOn: desk.runner.rest(call.taskId) }
}

async function statusOf({ runner }: GroupDesk, id: string): Promise<string> {
  return (await runner.get(id)).task.status
}

test("a call that moves to the background while it waits for others holds no slot until it goes on", async () => {
  const desk = await createGroupDesk(ONE_SLOT)
  const { call, goOn } = await beginWaiting(desk)
  await desk.start("one")
  await desk.start("two")
  expect(await call.promote()).toBe(true)
  await desk.finish("one")
  await desk.finish("two")
  goOn()
  const { id } = await desk.start("three")
  expect(await statusOf(desk, id)).toBe("queued")
  await desk.finish("waiting")
  await desk.call("three")
})

test("an agent that begins after what waits below it, as after a restart, holds no slot meanwhile", async () => {
  const desk = await createGroupDesk(ONE_SLOT)
  const { id: parent } = await desk.start("parent", { delayMs: 1_000 })
  const { call, goOn } = await beginWaiting(desk, parent)
  await desk.passTime(desk.call("parent"))
  await desk.start("one")
  await desk.finish("one")
  goOn()
  const { id } = await desk.start("two")
  expect(await statusOf(desk, id)).toBe("queued")
  await desk.finish("waiting")
  await call.answer
  await desk.finish("parent")
  await desk.call("two")
})
