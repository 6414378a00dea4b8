import { spawn } from "node:child_process"
import { expect, onTestFinished, test } from "vitest"
import { MeanwhileError } from "../../src/base/error.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { TaskStore } from "../../src/task/store.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const call = { tool: "echo", input: {} }

test("a promise that already runs becomes a task and ends as it does", async () => {
  const { meanwhile } = await createWorkplace({ tools: [echo] })
  const work = Promise.withResolvers<unknown>()
  const adopted = await meanwhile.tasks.adopt(call, work.promise)
  expect(adopted.status).toBe("running")
  work.resolve({ rows: 3 })
  const { task } = await meanwhile.tasks.result(adopted.id, { waitMs: 20_000 })
  expect(task).toMatchObject({ status: "completed", patch: { payload: { rows: 3 } } })

  const failing = await meanwhile.tasks.adopt(call, Promise.reject(new Error("it broke")))
  expect((await meanwhile.tasks.result(failing.id, { waitMs: 20_000 })).task).toMatchObject({
    status: "failed",
    failure: { message: "it broke" },
  })
})

test("adopted work takes a slot even when none is free, and gives it back", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [echo, gated.tool], background: { maxConcurrentTasks: 1 } })
  const work = Promise.withResolvers<unknown>()
  const running = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const adopted = await meanwhile.tasks.adopt(call, work.promise)
  const queued = await meanwhile.tasks.start({ tool: "gated", input: {} })
  await meanwhile.tasks.cancel(running.id)
  await meanwhile.tasks.result(running.id, { waitMs: 20_000 })
  expect((await meanwhile.tasks.get(queued.id)).task.status).toBe("queued")
  work.resolve(null)
  await meanwhile.tasks.result(adopted.id, { waitMs: 20_000 })
  await gated.call(2)
})

test("the same key adopts nothing twice", async () => {
  const { meanwhile } = await createWorkplace({ tools: [echo] })
  const keyed = { ...call, idempotencyKey: "k" }
  const first = await meanwhile.tasks.adopt(keyed, Promise.resolve(1))
  const second = await meanwhile.tasks.adopt(keyed, Promise.resolve(2))
  expect(second.id).toBe(first.id)
  expect((await meanwhile.tasks.result(first.id, { waitMs: 20_000 })).task).toMatchObject({ patch: { payload: 1 } })
})

test("a process of this machine is watched until it ends, and stopped when its task is", async () => {
  const { meanwhile } = await createWorkplace({ tools: [echo] })
  const child = spawn("sleep", ["30"])
  onTestFinished(() => void child.kill("SIGKILL"))
  const gone = new Promise((resolve) => child.once("exit", resolve))
  const adopted = await meanwhile.tasks.adopt(call, { pid: child.pid ?? 0 })
  const [, , fact] = await meanwhile.engine.store.events(adopted.id, 0, 10)
  expect(fact?.body).toEqual({ type: "task.adopted", pids: [child.pid] })
  await meanwhile.tasks.cancel(adopted.id)
  await gone
  expect((await meanwhile.tasks.result(adopted.id, { waitMs: 30_000 })).task.status).toBe("cancelled")
})

test("adopted work is never run again after a crash, not even by a tool that finds its processes", async () => {
  const gated = createGatedTool({ reattaches: true, onCrash: "retry" })
  const { meanwhile, another } = await createWorkplace({ tools: [gated.tool], clock: createManualClock() })
  const work = Promise.withResolvers<null>()
  refuseSteps(meanwhile.engine.store)
  const { id } = await meanwhile.tasks.adopt({ tool: "gated", input: {} }, work.promise)
  const clock = createManualClock()
  const second = await another({ clock, background: { leaseSeconds: 3 } })
  const task = await eventually("it is decided", async () => {
    // In small steps, with looks in between: a worker counts no silence from a time when it stood still itself.
    clock.advance(100)
    const view = await second.tasks.get(id)
    return view.task.status !== "running" && view.task
  })
  expect(task).toMatchObject({ status: "interrupted", by: "lost_worker" })
  expect(gated.calls).toHaveLength(0)
  work.resolve(null)
})

test("adopting finishes the step that asked for it, and a step that asks again gets the same task", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [echo, gated.tool] })
  const asking = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const asked = { ...call, askedBy: { taskId: asking.id, run: 1, key: "call 1" } }
  const first = await meanwhile.tasks.adopt(asked, Promise.resolve(1))
  expect(await meanwhile.engine.store.steps(asking.id, 1)).toMatchObject([
    { key: "call 1", state: "finished", result: { taskId: first.id } },
  ])
  expect((await meanwhile.tasks.adopt(asked, Promise.resolve(2))).id).toBe(first.id)
})

/** Acts as if the process had died after its first write: no step can be added to what it wrote. */
function refuseSteps(store: TaskStore): void {
  const { commit } = store
  store.commit = async (operations, options) => {
    if (operations.some(({ op }) => op === "step.start")) throw new MeanwhileError("closed", "The process is gone.")
    return commit(operations, options)
  }
}
