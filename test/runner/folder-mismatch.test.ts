import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { createGatedTool, echo, type GatedCall } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const FOLDER = "/somewhere"

/** A tool whose tasks name a folder that this process has or has not. */
function createPlacedTool(isHere: boolean) {
  return createGatedTool({ isHere: () => isHere, folderOf: () => FOLDER })
}

test("a task is left to a live worker that has its folder, even while that worker has no room", async () => {
  const here = createPlacedTool(true)
  const elsewhere = createPlacedTool(false)
  const { meanwhile, another } = await createWorkplace({ tools: [here.tool], background: { maxConcurrentTasks: 1 } })
  const { tasks } = meanwhile
  await tasks.start({ tool: "gated", input: {} })
  const first = await here.call(1)
  const { id, status } = await tasks.start({ tool: "gated", input: {} })
  expect(status).toBe("queued")
  const other = await another({ tools: [elsewhere.tool] })
  await eventually("the other has said that it leaves it", async () =>
    (await other.tasks.workers()).some(({ announcement }) =>
      announcement?.leaves.some((left) => left.endsWith(FOLDER)),
    ),
  )
  expect((await tasks.get(id)).task.status).toBe("queued")
  first.finish()
  ;(await here.call(2)).finish()
  expect((await tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
  expect(elsewhere.calls).toEqual([])
})

test("a task that every worker skips fails on the worker that finds this out", async () => {
  const run = () => Promise.reject(new Error("there is no such folder"))
  const tool = { ...createPlacedTool(false).tool, run }
  const { meanwhile, another } = await createWorkplace({ tools: [tool], takesWork: false })
  await another({ tools: [tool], takesWork: true })
  await another({ tools: [tool], takesWork: true })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  expect((await meanwhile.tasks.result(id, { waitMs: 30_000 })).task).toMatchObject({
    status: "failed",
    failure: { message: "there is no such folder" },
  })
})

test("a worker that has the folder of a skipped task by now no longer skips it, even while it has no room", async () => {
  const folders = { areHere: false }
  const here = createPlacedTool(true)
  const late = createGatedTool({ isHere: () => folders.areHere, folderOf: () => FOLDER })
  const busy = createGatedTool({ name: "busy" })
  const { meanwhile, another } = await createWorkplace({ tools: [here.tool], background: { maxConcurrentTasks: 1 } })
  await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { tasks } = await another({ tools: [late.tool, busy.tool], background: { maxConcurrentTasks: 1 } })
  const countLeft = async (): Promise<number> =>
    (await tasks.workers()).flatMap(({ announcement }) => announcement?.leaves ?? []).length
  await eventually("it has said that it leaves one", async () => (await countLeft()) === 1)
  await tasks.start({ tool: "busy", input: {} })
  await busy.call(1)
  folders.areHere = true
  await eventually("it has taken that back", async () => (await countLeft()) === 0)
  expect((await tasks.cancel(id)).status).toBe("cancelled")
  for (const call of [...here.calls, ...busy.calls]) call.finish()
})

test("skipped tasks do not keep the tasks behind them waiting", async () => {
  const here = createPlacedTool(true)
  const elsewhere = createPlacedTool(false)
  const { meanwhile, another } = await createWorkplace({ tools: [here.tool], background: { maxConcurrentTasks: 1 } })
  const { tasks } = meanwhile
  const busy = await tasks.start({ tool: "gated", input: {} })
  const many = Array.from({ length: 300 })
  const left = await Promise.all(many.map(() => tasks.start({ tool: "gated", input: {}, priority: 1 })))
  const other = await another({ tools: [elsewhere.tool, echo], background: { maxConcurrentTasks: 1 } })
  await eventually("the other has seen one", async () =>
    (await other.tasks.workers()).some(({ announcement }) => (announcement?.leaves.length ?? 0) > 0),
  )
  const [one, two] = await Promise.all([1, 2].map(() => other.tasks.start({ tool: "echo", input: {} })))
  for (const { id } of [one, two].flatMap((task) => task ?? [])) {
    expect((await other.tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
  }
  const leaves = (await other.tasks.workers()).flatMap(({ announcement }) => announcement?.leaves ?? [])
  expect(leaves).toHaveLength(1)
  expect(elsewhere.calls).toEqual([])
  await Promise.all(left.map(({ id }) => tasks.cancel(id)))
  await tasks.cancel(busy.id)
  for (const call of here.calls) call.finish()
})

test("own work that is left to others does not keep back other work of the same folder", async () => {
  const here = createPlacedTool(true)
  const { meanwhile } = await createWorkplace({
    tools: [here.tool],
    takesWork: "own",
    background: { maxConcurrentTasks: 1 },
  })
  const { tasks } = meanwhile
  await tasks.start({ tool: "gated", input: {} })
  const first = await here.call(1)
  const left = await tasks.start({ tool: "gated", input: {} })
  const { id } = await tasks.start({ tool: "gated", input: {} })
  await tasks.leaveToOthers({ taskId: left.id, run: 1 }, async () => {})
  first.finish()
  const { context, finish } = await here.call(2)
  expect(context.taskId).toBe(id)
  finish()
  expect((await tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
  expect((await tasks.get(left.id)).task.status).toBe("queued")
})

test("a run that is left to others leaves later runs of its task to nobody", async () => {
  const here = createPlacedTool(true)
  const elsewhere = createPlacedTool(true)
  const { meanwhile, another } = await createWorkplace({ tools: [here.tool], takesWork: "own" })
  const { tasks } = meanwhile
  const { id } = await tasks.start({ tool: "gated", input: {} })
  const end = async (each: Promise<GatedCall>): Promise<void> => {
    ;(await each).fail(new Error("no"))
    expect((await tasks.result(id, { waitMs: 30_000 })).task.status).toBe("failed")
  }
  await end(here.call(1))
  const other = await another({ tools: [elsewhere.tool], takesWork: true })
  await tasks.leaveToOthers({ taskId: id, run: 2 }, () => tasks.retry(id))
  await end(elsewhere.call(1))
  await other.close()
  expect((await tasks.retry(id)).run).toBe(3)
  await end(here.call(2))
  const refused = tasks.leaveToOthers({ taskId: id, run: 4 }, () => Promise.reject(new Error("not now")))
  await expect(refused).rejects.toThrow("not now")
  await tasks.retry(id)
  await end(here.call(3))
})
