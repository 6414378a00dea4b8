import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, onTestFinished, test, vi } from "vitest"
import type { TaskId, WorkerId } from "../task/id.ts"
import type { TaskRecord } from "../task/record.ts"
import { createQueuedTasks } from "./queued-tasks.ts"

const ID = "1f0c5a7e-0000-4000-8000-000000000000" as TaskId

/** What is told of a queued task that a worker takes after this time. */
async function takeAfter(waitedMs: number, where: "process" | "machine" | "elsewhere"): Promise<readonly string[]> {
  vi.useFakeTimers({ toFake: ["performance"] })
  onTestFinished(() => void vi.useRealTimers())
  let task: Pick<TaskRecord, "id" | "title" | "status"> = { id: ID, title: "sleep 60", status: "queued" }
  let wake = (): void => {}
  const told: string[] = []
  const worker = { id: "worker" as WorkerId, host: "build-1", pid: 41_873, where, isSilent: false }
  const queued = createQueuedTasks({
    store: { task: async () => task },
    bus: { subscribeTask: (_id, listener) => ((wake = () => listener(true)), () => (wake = () => {})) },
    tasks: { get: async () => ({ worker }) },
    onTaken: ({ title }, by) => void told.push(`${title} on ${by.host}, pid ${by.pid}`),
  })
  queued.follow(task)
  await nextTurn()
  vi.advanceTimersByTime(waitedMs)
  task = { ...task, status: "running" }
  for (let times = 0; times < 3; times++) {
    wake()
    await nextTurn()
  }
  return told
}

test("a task that had to wait is told of once when it runs, with the place", async () => {
  expect(await takeAfter(1_000, "elsewhere")).toEqual(["sleep 60 on build-1, pid 41873"])
  expect(await takeAfter(5_000, "machine")).toEqual(["sleep 60 on build-1, pid 41873"])
})

test("a task that is taken soon, or by this program, is not told of", async () => {
  expect(await takeAfter(999, "elsewhere")).toEqual([])
  expect(await takeAfter(5_000, "process")).toEqual([])
})
