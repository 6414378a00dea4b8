import { PassThrough } from "node:stream"
import { setImmediate as nextTurn } from "node:timers/promises"
import { expect, onTestFinished, test, vi } from "vitest"
import type { Task, TaskId } from "../format.ts"
import { createLineScreen } from "../screen/create-screen.ts"
import { createQueuedTasks, type QueueView } from "./queued-tasks.ts"

const ID = "1f0c5a7e-0000-4000-8000-000000000000" as TaskId

/** A task in the queue, which somebody takes after so long. */
async function takeAfter(waitedMs: number, where: "process" | "machine" | "elsewhere"): Promise<string> {
  vi.useFakeTimers({ toFake: ["performance"] })
  onTestFinished(() => void vi.useRealTimers())
  let task: Pick<Task, "id" | "title" | "status"> = { id: ID, title: "sleep 60", status: "queued" }
  let wake = (): void => {}
  let shown = ""
  const output = new PassThrough().setEncoding("utf8").on("data", (text: string) => (shown += text))
  const meanwhile: QueueView = {
    engine: {
      store: { task: async () => task },
      bus: { subscribeTask: (_id, listener) => ((wake = () => listener(true)), () => (wake = () => {})) },
    },
    tasks: { get: async () => ({ worker: { host: "build-1", pid: 41_873, where } }) },
  }
  const queued = createQueuedTasks(meanwhile, createLineScreen(output))
  queued.follow(task)
  await nextTurn()
  vi.advanceTimersByTime(waitedMs)
  task = { ...task, status: "running" }
  for (let times = 0; times < 3; times++) {
    wake()
    await nextTurn()
  }
  return shown
}

test("of a task that had to wait it is said once that it runs, and where", async () => {
  expect(await takeAfter(1_000, "elsewhere")).toBe("[1f0c5a7e] runs now on build-1, pid 41873: sleep 60\n")
  expect(await takeAfter(5_000, "machine")).toBe("[1f0c5a7e] runs now here, pid 41873: sleep 60\n")
})

test("of a task that is taken soon, or by this program, nothing is said", async () => {
  expect(await takeAfter(999, "elsewhere")).toBe("")
  expect(await takeAfter(5_000, "process")).toBe("")
})
