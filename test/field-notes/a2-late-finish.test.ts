import { describe, expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { createGatedTool } from "../support/tools.ts"
import { eventually } from "../support/eventually.ts"
import { createWorkplace } from "../support/workplace.ts"

describe("A2. A cancelled task stays cancelled when its work finishes late", () => {
  async function startGated() {
    const clock = createManualClock()
    const gated = createGatedTool()
    const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock })
    const { tasks, engine } = meanwhile
    const { id } = await tasks.start({ tool: "gated", input: {} })
    return { clock, tasks, id, call: await gated.call(1), events: () => engine.store.events(id, 0, 100) }
  }

  test("while it is being stopped; what it handed back is kept beside the stop", async () => {
    const { tasks, id, call } = await startGated()
    expect(await tasks.cancel(id)).toMatchObject({ status: "stopping" })
    call.finish("late")
    const { task } = await tasks.result(id, { waitMs: 30_000 })
    expect(task).toMatchObject({
      status: "cancelled",
      stop: { by: "person" },
      survivors: [],
      patch: { payload: "late" },
    })
  })

  test("after it was given up; the late result is an event and changes nothing", async () => {
    const { clock, tasks, id, call, events } = await startGated()
    await tasks.cancel(id)
    clock.advance(10_000)
    const { task } = await tasks.result(id, { waitMs: 30_000 })
    expect(task.status).toBe("cancelled")
    call.finish("much too late")
    const late = await eventually("the late result is noted", async () =>
      (await events()).find(({ body }) => body.type === "task.finished_late"),
    )
    expect(late.body).toMatchObject({ patch: { payload: "much too late" } })
    expect((await tasks.get(id)).task.status).toBe("cancelled")
  })

  test("when it fails late", async () => {
    const { tasks, id, call } = await startGated()
    await tasks.cancel(id)
    call.fail(new Error("torn down in the middle"))
    expect((await tasks.result(id, { waitMs: 30_000 })).task).toMatchObject({ status: "cancelled", patch: null })
  })

  test("and one that timed out stays timed out", async () => {
    const { clock, tasks, id, call } = await startGated()
    clock.advance(300_000)
    await eventually("the stop is accepted", async () => (await tasks.get(id)).task.status === "stopping")
    expect(await tasks.cancel(id)).toMatchObject({ status: "stopping", stop: { by: "deadline" } })
    call.finish()
    expect((await tasks.result(id, { waitMs: 30_000 })).task).toMatchObject({ status: "timed_out" })
  })

  test("and the other way round: what completed first stays completed", async () => {
    const { tasks, id, call } = await startGated()
    call.finish("in time")
    await tasks.result(id, { waitMs: 30_000 })
    expect(await tasks.cancel(id)).toMatchObject({ status: "completed", patch: { payload: "in time" } })
  })
})
