import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, test } from "vitest"
import { z } from "zod"
import type { Runtime } from "../../src/app.ts"
import { createManualClock } from "../../src/base/manual-clock.ts"
import { defineTool } from "../../src/plugin/tool.ts"
import { silentLog } from "../../src/runner/redaction/redacting-log.ts"
import { createTaskId, type TaskId } from "../../src/task/id.ts"
import { eventually } from "../support/eventually.ts"
import { hasEvent, interceptCommits } from "../support/intercept-commits.ts"
import { createGatedTool, echo } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

const ROOM_FOR_ONE = { background: { maxConcurrentTasks: 1 } }

/** A tool that no longer takes, when its task begins, the input it took when the task was started. */
function createChangingTool() {
  let isTaken = true
  const tool = defineTool({
    name: "changing",
    description: "Changes its mind about its input.",
    input: z.object({}).refine(() => isTaken, "not any longer"),
    background: { mode: "after" },
    run: async () => expect.unreachable(),
  })
  const change = (): void => {
    isTaken = false
  }
  return { tool, change }
}

/** Queues a task behind a running one. When that one ends, the queued task cannot begin. */
async function queueChanging() {
  const gated = createGatedTool()
  const changing = createChangingTool()
  const { meanwhile } = await createWorkplace({ tools: [gated.tool, changing.tool, echo], ...ROOM_FOR_ONE })
  await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { finish } = await gated.call(1)
  const { id } = await meanwhile.tasks.start({ tool: "changing", input: {} })
  changing.change()
  return { meanwhile, id, begin: () => finish() }
}

async function statusOf({ engine }: Runtime, id: TaskId) {
  return (await engine.store.task(id))?.status
}

async function expectFreeSlot({ tasks }: Runtime): Promise<void> {
  const { id } = await tasks.start({ tool: "echo", input: {} })
  expect((await tasks.result(id, { waitMs: 20_000 })).task.status).toBe("completed")
}

test("a task that cannot begin and was cancelled meanwhile ends as cancelled", async () => {
  const { meanwhile, id, begin } = await queueChanging()
  interceptCommits(meanwhile, async (operations, go) => {
    const answers = await go(operations)
    const stop = { type: "task.stop_requested", by: "person", reason: "changed my mind" } as const
    const isBegun = operations.some((one) => one.op === "task.apply" && one.run.taskId === id)
    if (isBegun && hasEvent(operations, "task.started"))
      await go([{ op: "task.apply", run: { taskId: id, run: 1 }, event: stop }])
    return answers
  })
  begin()
  await eventually("it is cancelled", async () => (await statusOf(meanwhile, id)) === "cancelled")
  await expectFreeSlot(meanwhile)
})

test("the failure of a task that cannot begin is written once the store can be written again", async () => {
  const { meanwhile, id, begin } = await queueChanging()
  let refusals = 0
  interceptCommits(meanwhile, (operations, go) => {
    if (!hasEvent(operations, "task.failed") || refusals > 1) return go(operations)
    refusals += 1
    return Promise.reject(new Error("the disk is gone"))
  })
  begin()
  await eventually("it has failed", async () => (await statusOf(meanwhile, id)) === "failed")
  expect(refusals).toBe(2)
  await expectFreeSlot(meanwhile)
})

test.each([
  { onCrash: "fail", ends: "interrupted", calls: 1 },
  { onCrash: "retry", ends: "running", calls: 2 },
] as const)("a claim whose answer was lost is found again: onCrash $onCrash", async ({ onCrash, ends, calls }) => {
  const clock = createManualClock()
  const gated = createGatedTool({ onCrash, obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock, ...ROOM_FOR_ONE })
  const first = await meanwhile.tasks.start({ tool: "gated", input: {} })
  const { finish } = await gated.call(1)
  const { id } = await meanwhile.tasks.start({ tool: "gated", input: {} })
  let isLost = false
  interceptCommits(meanwhile, async (operations, go) => {
    const answers = await go(operations)
    if (isLost || !hasEvent(operations, "task.started")) return answers
    isLost = true
    throw new Error("the answer did not arrive")
  })
  finish()
  await eventually("it is claimed", () => isLost)
  await meanwhile.tasks.result(first.id, { waitMs: 60_000 })
  const decide = async () => {
    clock.advance(1_000)
    return (await statusOf(meanwhile, id)) === ends && gated.calls.length === calls
  }
  await eventually("it is decided", decide)
})

test("a run that was left stopping ends, and one that runs here is left alone", async () => {
  const clock = createManualClock()
  const gated = createGatedTool({ onCrash: "retry", obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool], clock })
  const here = await meanwhile.tasks.start({ tool: "gated", input: {} })
  await gated.call(1)
  const { store } = meanwhile.engine
  const running = await store.task(here.id)
  if (running?.status !== "running") throw new Error("It does not run.")
  const details = { ...running, id: createTaskId() }
  await store.commit([{ op: "task.create", details, entry: { as: "running", worker: running.worker } }])
  const stop = { type: "task.stop_requested", by: "person", reason: "enough" } as const
  await store.commit([{ op: "task.apply", run: { taskId: details.id, run: 1 }, event: stop }])
  const look = async () => {
    clock.advance(1_000)
    return (await statusOf(meanwhile, details.id)) === "cancelled"
  }
  await eventually("it is cancelled", look)
  expect(await store.task(here.id)).toMatchObject({ status: "running", fence: running.fence })
  expect(gated.calls).toHaveLength(1)
})

test("a run whose command cannot be forbidden on a faulty disk is logged and tried again, once in each look", async () => {
  const clock = createManualClock()
  const told: unknown[] = []
  const log = { ...silentLog, error: (message: string, fields?: unknown) => void told.push([message, fields]) }
  const gated = createGatedTool({ onCrash: "retry", obeys: true })
  const { meanwhile, directory } = await createWorkplace({ tools: [gated.tool, echo], clock, log })
  const here = await meanwhile.tasks.start({ tool: "gated", input: {} })
  await gated.call(1)
  const { store } = meanwhile.engine
  const running = await store.task(here.id)
  if (running?.status !== "running") throw new Error("It does not run.")
  const id = createTaskId()
  const folder = join(directory, "data", "spool", id)
  mkdirSync(dirname(folder), { recursive: true })
  // No folder can be made below a file, not even by root.
  writeFileSync(folder, "")
  const details = { ...running, id, plugin: "shell", tool: "run_command", input: { command: "echo ran" } }
  await store.commit([{ op: "task.create", details, entry: { as: "running", worker: running.worker } }])
  let looks = 0
  const look = (): void => {
    looks += 1
    clock.advance(1_000)
  }
  await eventually("it was tried twice", () => {
    look()
    return told.length >= 2
  })
  expect(told.length).toBeLessThanOrEqual(looks)
  const error = expect.stringContaining("ENOTDIR") as string
  expect(told[0]).toEqual(["a task that was left here could not be ended; trying again", { task: id, error }])
  expect(await store.task(id)).toMatchObject({ status: "running", fence: 1 })
  await expectFreeSlot(meanwhile)
  rmSync(folder)
  await eventually("it has run", async () => {
    look()
    return (await statusOf(meanwhile, id)) === "completed"
  })
  expect((await meanwhile.tasks.output(id)).text).toBe("ran\n")
})
