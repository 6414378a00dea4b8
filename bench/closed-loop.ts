import type { Runtime } from "../src/app.ts"
import type { Bus } from "../src/task/bus.ts"
import type { TaskId } from "../src/task/id.ts"
import { noOp } from "./tools.ts"

/** Runs per second, with `inFlight` under way at any time: as soon as one has ended, the next is started. */
export async function measureRate(count: number, inFlight: number, runOne: () => Promise<void>): Promise<number> {
  let started = 0
  const lane = async () => {
    while (started++ < count) await runOne()
  }
  return toRate(count, () => Promise.all(Array.from({ length: inFlight }, lane)))
}

/** Runs per second, for a caller that decides itself how many are under way. */
export async function toRate(count: number, runAll: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await runAll()
  return count / ((performance.now() - startedAt) / 1_000)
}

/** Starts a task and reads its result. */
export async function runTask({ tasks }: Runtime): Promise<void> {
  const { id } = await tasks.start({ tool: noOp.name, input: {} })
  const { task } = await tasks.result(id, { waitMs: 60_000 })
  if (task.status !== "completed") throw new Error(`a task ended ${task.status}`)
}

/** Starts a task and waits until the bus tells that it has ended. */
export async function startTask({ tasks }: Runtime, ended: (id: TaskId) => Promise<void>): Promise<void> {
  const { id } = await tasks.start({ tool: noOp.name, input: {} })
  await ended(id)
}

/** Resolves once the store has told of a task that it may be over. */
export function listenForEnds(bus: Bus): (id: TaskId) => Promise<void> {
  const waiting = new Map<TaskId, () => void>()
  const early = new Set<TaskId>()
  bus.subscribe((wake) => {
    if (wake.about !== "task" || wake.isLive) return
    const resolve = waiting.get(wake.taskId)
    if (resolve) resolve()
    else early.add(wake.taskId)
    waiting.delete(wake.taskId)
  })
  return (id) => new Promise((resolve) => void (early.delete(id) ? resolve() : waiting.set(id, resolve)))
}
