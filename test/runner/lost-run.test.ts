import { expect, test } from "vitest"
import { createManualClock, type ManualClock } from "../../src/base/manual-clock.ts"
import type { Engine } from "../../src/task/engine.ts"
import { WORKER_LEASE_PREFIX } from "../../src/task/worker.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const background = { leaseSeconds: 3 }
/** A worker that still has a run has no slot for it when the run is queued again: another worker takes it. */
const roomForOne = { ...background, maxConcurrentTasks: 1 }

/** Small enough for looks in between: a worker counts no silence of others from a time when it stood still itself. */
const LITTLE_MS = 50

/**
 * Advances the clock a little, and no further than the store keeps up with: a look at leases that takes long on this clock
 * counts as a standstill of the worker itself.
 */
async function advanceALittle(clock: ManualClock, { store }: Pick<Engine, "store">): Promise<void> {
  clock.advance(LITTLE_MS)
  await store.leases(WORKER_LEASE_PREFIX)
}

test("a worker that lost a run can neither print nor keep anything for it any more", async () => {
  const gated = createGatedTool({ onCrash: "retry" })
  const slow = createManualClock()
  const options = { tools: [gated.tool], clock: slow, background: roomForOne }
  const { meanwhile, another } = await createWorkplace(options)
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const lost = await gated.call(1)
  lost.context.output.write("first\n")
  await eventually("it is kept", async () => (await meanwhile.tasks.output(id)).text === "first\n")

  const clock = createManualClock()
  const second = await another({ clock })
  const taken = await eventually("another worker runs it", async () => {
    await advanceALittle(clock, second.engine)
    return gated.calls[1]
  })
  taken.context.output.write("second\n")
  // The first worker learns of it when it asks, at the latest before it keeps something.
  slow.advance(10_000)
  await expect(lost.context.artifacts.put("late", "text/plain", Buffer.from("late"))).rejects.toMatchObject({
    code: "stale_claim",
  })
  lost.context.output.write("late\n")
  lost.finish("late")
  await taken.context.artifacts.put("in time", "text/plain", Buffer.from("in time"))
  taken.finish("done")
  const { task } = await second.tasks.result(id, { waitMs: 30_000 })
  expect(task).toMatchObject({ status: "completed", patch: { payload: "done" } })
  await meanwhile.close()
  expect((await second.tasks.output(id)).text).toBe("first\nsecond\n")
})

test("a worker that claims a run which it still works on has lost the claim before", async () => {
  const gated = createGatedTool({ onCrash: "retry" })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { id, run, fence } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const lost = await gated.call(1)
  // The write of a worker that takes this one for dead.
  const event = { type: "task.released", reason: "lost_worker" } as const
  await meanwhile.engine.store.commit([{ op: "task.apply", run: { taskId: id, run, fence }, event }])
  const taken = await gated.call(2)
  expect(lost.context.signal.aborted).toBe(true)
  await expect(lost.context.artifacts.put("late", "text/plain", Buffer.from("late"))).rejects.toMatchObject({
    code: "stale_claim",
  })
  lost.context.output.write("late\n")
  lost.finish("late")
  taken.context.output.write("in time\n")
  taken.finish("done")
  const { task } = await meanwhile.tasks.result(id, { waitMs: 30_000 })
  expect(task).toMatchObject({ status: "completed", patch: { payload: "done" } })
  expect((await meanwhile.tasks.output(id)).text).toBe("in time\n")
})

test("a run that another worker has handed back meanwhile is left to the queue", async () => {
  const gated = createGatedTool({ onCrash: "retry" })
  const options = { tools: [gated.tool], clock: createManualClock(), background: roomForOne }
  const { meanwhile, another } = await createWorkplace(options)
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  await gated.call(1)

  const clock = createManualClock()
  // This worker takes no tools, so that the run can be seen in the queue.
  const { engine } = await another({ clock, takesKinds: ["agent"] })
  const { store } = engine
  const read = store.steps
  store.steps = async (taskId, run) => {
    const steps = await read(taskId, run)
    store.steps = read
    const event = { type: "task.released", reason: "lost_worker" } as const
    await store.commit([{ op: "task.apply", run: { taskId, run, fence: 1 }, event }])
    return steps
  }
  await eventually("the lost one is done with", async () => {
    await advanceALittle(clock, engine)
    return store.steps === read && (await store.leases(WORKER_LEASE_PREFIX)).length === 1
  })
  expect(await store.task(id)).toMatchObject({ status: "queued" })
})

test("a step that a slow worker begins while another one takes its run over decides what happens", async () => {
  const gated = createGatedTool({ onCrash: "fail" })
  const { meanwhile, another } = await createWorkplace({ tools: [gated.tool], clock: createManualClock(), background })
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const lost = await gated.call(1)

  const clock = createManualClock()
  const second = await another({ clock })
  const { store } = second.engine
  const read = store.steps
  store.steps = async (...of) => {
    const steps = await read(...of)
    // The step never ends: the worker that begins it stands still again.
    void lost.context.step("late", () => new Promise<never>(() => {}), { onCrash: "retry" }).catch(() => {})
    await eventually("it is written", async () => (await read(...of)).length === 1)
    return steps
  }
  const taken = await eventually("another worker runs it", async () => {
    await advanceALittle(clock, second.engine)
    return gated.calls[1]
  })
  taken.finish("done")
  expect((await second.tasks.result(id, { waitMs: 30_000 })).task.status).toBe("completed")
})
