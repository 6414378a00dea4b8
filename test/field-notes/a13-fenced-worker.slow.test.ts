import { describe, expect, test } from "vitest"
import { startChildWorker } from "../support/child-worker.ts"
import { eventually } from "../support/eventually.ts"
import { createHoldingTools, effectsIn } from "../support/holding-tools.ts"
import { createFolder, openIn } from "../support/workplace.ts"

const background = { leaseSeconds: 0.5 }

describe('A13. A worker stopped (SIGSTOP) after "step started", reclaimed, retried and then continued does not act a second time', () => {
  test("when the step is retried by another process", async () => {
    const directory = createFolder()
    const worker = await startChildWorker(directory, background, "stops_at_step")
    const [id = ""] = await worker.start([{ tool: "hold_retry", input: { name: "once" } }])
    await eventually("it stands still", () => worker.isSuspended())
    expect(effectsIn(directory).map(({ what }) => what)).toEqual(["began once"])

    const { tasks, engine } = await openIn(directory, { background, tools: createHoldingTools(directory) })
    const { task } = await tasks.result(id, { waitMs: 20_000 })
    expect(task).toMatchObject({ status: "completed", run: 1, fence: 2 })
    expect(await engine.store.steps(task.id, 1)).toMatchObject([{ key: "act", state: "finished" }])

    worker.continue()
    await eventually("it is awake", () => !worker.isSuspended())
    // By then the worker has seen that its lease was taken over, and has let go of the run.
    await worker.close()
    const acted = effectsIn(directory).filter(({ what }) => what === "acted once")
    expect(acted).toEqual([{ pid: process.pid, what: "acted once" }])
    expect((await tasks.get(id)).task).toMatchObject({ status: "completed", fence: 2 })
    const types = (await engine.store.events(task.id, 0, 100)).map(({ body }) => body.type)
    expect(types.filter((type) => type === "task.completed")).toHaveLength(1)
  })

  test("when the step may not be repeated: the task is interrupted, and the worker that comes back does not act either", async () => {
    const directory = createFolder()
    const worker = await startChildWorker(directory, background, "stops_at_step")
    const [id = ""] = await worker.start([{ tool: "hold", input: { name: "never" } }])
    await eventually("it stands still", () => worker.isSuspended())
    const { tasks } = await openIn(directory, { background, tools: createHoldingTools(directory) })
    const { task } = await tasks.result(id, { waitMs: 20_000 })
    expect(task).toMatchObject({ status: "interrupted", by: "lost_worker" })
    worker.continue()
    await eventually("it is awake", () => !worker.isSuspended())
    await worker.close()
    expect(effectsIn(directory).map(({ what }) => what)).toEqual(["began never"])
    expect((await tasks.get(id)).task.status).toBe("interrupted")
  })
})
