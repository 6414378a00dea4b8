import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, onTestFinished, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { MeanwhileError } from "../../src/base/error.ts"
import type { Engine } from "../../src/task/engine.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace, type WorkplaceOptions } from "../support/workplace.ts"

describe("A7. An exception while waiting never runs the tool a second time", () => {
  async function prepare(options: WorkplaceOptions = {}) {
    const clock = createManualClock()
    const gated = createGatedTool()
    const workplace = await createWorkplace({ tools: [gated.tool], clock, ...options })
    return { ...workplace, clock, gated, tasks: workplace.meanwhile.tasks }
  }

  test("when the promotion cannot be stored, the call stays in the foreground and answers with its result", async () => {
    const { meanwhile, clock, gated, tasks } = await prepare()
    const store = breakable(meanwhile.engine)
    const execution = tasks.execute({ tool: "gated", input: {} })
    const call = await gated.call(1)
    store.break()
    clock.advance(10_000)
    await store.wasAsked()
    store.repair()
    call.finish("whole")
    expect(await execution.answer).toMatchObject({ outcome: "completed", patch: { payload: "whole" } })
    expect(gated.calls).toHaveLength(1)
    expect((await tasks.list({})).items).toEqual([])
  })

  test("when the promotion has to wait for another process's lock, the handle comes once", async () => {
    const { clock, gated, tasks, directory } = await prepare()
    const execution = tasks.execute({ tool: "gated", input: {} })
    const call = await gated.call(1)
    const other = new DatabaseSync(join(directory, "data", "store.sqlite"))
    onTestFinished(() => other.close())
    other.exec("BEGIN IMMEDIATE")
    clock.advance(10_000)
    call.finish("done while the store was locked")
    await new Promise(setImmediate)
    other.exec("ROLLBACK")
    expect((await execution.answer).outcome).toBe("promoted")
    const { task } = await tasks.result(execution.taskId, { waitMs: 30_000 })
    expect(task).toMatchObject({ status: "completed", patch: { payload: "done while the store was locked" } })
    expect(gated.calls).toHaveLength(1)
  })

  test("when whoever watches the output throws, the call is promoted all the same and its slot is given back", async () => {
    const { gated, tasks } = await prepare({ background: { maxConcurrentTasks: 1 } })
    const execution = tasks.execute(
      { tool: "gated", input: {} },
      {
        onOutput: () => {
          throw new Error("the screen is gone")
        },
      },
    )
    const call = await gated.call(1)
    call.context.output.write("hello\n")
    expect(await execution.promote()).toBe(true)
    expect((await execution.answer).outcome).toBe("promoted")
    call.finish("done")
    const { task } = await tasks.result(execution.taskId, { waitMs: 30_000 })
    expect(task).toMatchObject({ status: "completed", patch: { payload: "done" } })
    const next = await tasks.start({ tool: "gated", input: {} })
    ;(await gated.call(2)).finish()
    expect((await tasks.result(next.id, { waitMs: 30_000 })).task.status).toBe("completed")
    expect(gated.calls).toHaveLength(2)
  })

  test("when a wait for the result is given up, or fails", async () => {
    const { another, gated, tasks } = await prepare()
    const { id } = await tasks.start({ tool: "gated", input: {} })
    const call = await gated.call(1)
    const abort = new AbortController()
    const waiting = tasks.result(id, { waitMs: 60_000, signal: abort.signal })
    abort.abort(new Error("nobody listens any more"))
    expect((await waiting).task.status).toBe("running")
    const other = await another()
    other.engine.store.task = () => Promise.reject(new MeanwhileError("store_unavailable", "The disk was taken out."))
    await expect(other.tasks.result(id, { waitMs: 60_000 })).rejects.toMatchObject({ code: "store_unavailable" })
    call.finish("once")
    const { task } = await tasks.result(id, { waitMs: 30_000 })
    expect(task).toMatchObject({ status: "completed", run: 1, patch: { payload: "once" } })
    expect(gated.calls).toHaveLength(1)
  })

  test("when the end cannot be stored at first, it is stored later", async () => {
    const { meanwhile, clock, gated, tasks } = await prepare()
    const { id } = await tasks.start({ tool: "gated", input: {} })
    const call = await gated.call(1)
    const store = breakable(meanwhile.engine)
    store.break()
    call.finish("kept")
    await store.wasAsked()
    store.repair()
    clock.advance(50)
    const { task } = await tasks.result(id, { waitMs: 30_000 })
    expect(task).toMatchObject({ status: "completed", patch: { payload: "kept" } })
    expect(gated.calls).toHaveLength(1)
  })

  test("when a start cannot be stored, nothing runs and no slot is kept", async () => {
    const { meanwhile, clock, gated, tasks } = await prepare({ background: { maxConcurrentTasks: 1 } })
    const store = breakable(meanwhile.engine)
    store.break()
    const refusal = tasks.start({ tool: "gated", input: {} }).catch((error: unknown) => error)
    let isRefused = false
    void refusal.then(() => (isRefused = true))
    await eventually("the store is not waited for any more", () => {
      clock.advance(1_000)
      return isRefused
    })
    expect(await refusal).toMatchObject({ code: "store_unavailable" })
    store.repair()
    expect(gated.calls).toHaveLength(0)
    expect((await tasks.start({ tool: "gated", input: {} })).status).toBe("running")
    ;(await gated.call(1)).finish()
  })
})

/** A store whose writes fail for a while, as on a disk that was taken out. */
function breakable({ store }: Engine) {
  const commit = store.commit
  let asked = Promise.withResolvers<void>()
  return {
    break() {
      asked = Promise.withResolvers()
      store.commit = async () => {
        // The caller whose commit is refused has heard of the refusal by the time the promise below is awaited.
        setImmediate(asked.resolve)
        throw new MeanwhileError("store_unavailable", "The disk was taken out.")
      }
    },
    repair() {
      store.commit = commit
    },
    wasAsked: () => asked.promise,
  }
}
