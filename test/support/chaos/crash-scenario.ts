import { EXPECTED_LIVE, isLive } from "../../../src/engine/suite/oracle.ts"
import type { ManualClock } from "../../../src/base/manual-clock.ts"
import type { ToolCall } from "../../../src/plugin/task-service.ts"
import type { Runner } from "../../../src/runner/runner.ts"
import type { House } from "./crash-house.ts"
import type { Life } from "./mortal-engine.ts"

const LONG_MS = 1_000_000_000

/**
 * Plays everything that a task can go through, once: more starts than slots, steps of every kind, a task that asks for a
 * task, a promotion, a failure and its retry, stops of running and of queued tasks, a time limit, a used result, and a clean
 * shutdown while something still runs.
 */
export async function playScenario(house: House, tasks: Runner, clock: ManualClock, life: Life): Promise<void> {
  async function start(call: ToolCall): Promise<string> {
    const { id } = await tasks.start(call)
    if (!life.isOver) house.answered.add(id)
    return id
  }

  async function cancel(id: string): Promise<void> {
    house.mayBeCancelled.add(id)
    const task = await tasks.cancel(id)
    if (!life.isOver && (task.status === "stopping" || task.status === "cancelled")) house.mustBeStopped.add(id)
  }

  const steps = (...names: string[]) => ({ steps: names })
  const [kept, failing] = await Promise.all([
    start({ tool: "retrying", input: steps("a-retry", "b-retry", "c-once") }),
    start({ tool: "retrying", input: { ...steps("a-retry"), ending: "fail" } }),
    start({ tool: "careful", input: steps("a-once", "b-retry") }),
    start({ tool: "parent", input: { childSteps: ["x-retry", "y-retry"] } }),
    start({ tool: "asking", input: steps("a-ask", "b-retry") }),
    start({ tool: "careful", input: {} }),
    start({ tool: "asking", input: {} }),
    start({ tool: "retrying", input: {}, idempotencyKey: "the same" }),
    start({ tool: "retrying", input: {}, idempotencyKey: "the same" }),
  ])

  const execution = tasks.execute({ tool: "retrying", input: steps("a-retry", "b-retry", "c-retry") })
  if (await execution.promote()) house.answered.add(execution.taskId)
  await execution.answer

  const endless = await Promise.all([1, 2, 3, 4].map(() => start({ tool: "endless", input: {} })))
  await Promise.all(endless.map(cancel))

  await tasks.result(failing, { waitMs: LONG_MS })
  house.mustHaveRun.set(failing, (await tasks.retry(failing)).run)
  await tasks.result(kept, { waitMs: LONG_MS, consume: true })
  house.mustBeUsed.add(kept)

  const limited = await start({ tool: "endless", input: {}, timeoutMs: 2_000 })
  await untilIdle(tasks, limited)
  clock.advance(3_000)
  await tasks.result(limited, { waitMs: LONG_MS })

  await start({ tool: "endless", input: {} })
  await tasks.close()
}

/** Waits until no task but this one, and those that wait for an answer, is live. */
async function untilIdle(tasks: Runner, but: string): Promise<void> {
  for (;;) {
    const { items } = await tasks.list({ statuses: EXPECTED_LIVE })
    const other = items.find((task) => task.id !== but && task.status !== "waiting")
    if (!other) return
    await tasks.result(other.id, { waitMs: LONG_MS })
  }
}

/** Brings all live tasks to their end: answers questions yes and no in turn, and stops tasks that never end. */
export async function finishAll(house: House, tasks: Runner): Promise<void> {
  let isYes = true
  for (;;) {
    const { items } = await tasks.list({ statuses: EXPECTED_LIVE })
    if (items.length === 0) return
    for (const { id } of items.filter((task) => task.tool === "endless")) {
      house.mayBeCancelled.add(id)
      await tasks.cancel(id)
    }
    for (const { id, wait } of items.filter((task) => task.status === "waiting")) {
      if (!isYes) house.mayBeCancelled.add(id)
      await tasks.answer(wait.id, isYes, "a test")
      isYes = !isYes
    }
    const next = items.find((task) => task.status !== "waiting")
    if (next) await tasks.result(next.id, { waitMs: LONG_MS })
  }
}

/** Starts as many `burst` tasks as there are slots: they end only when all of them run at once. */
export async function fillEverySlot(tasks: Runner, size: number): Promise<void> {
  const started = await Promise.all(Array.from({ length: size }, () => tasks.start({ tool: "burst", input: {} })))
  for (const { id } of started) {
    const { task } = await tasks.result(id, { waitMs: LONG_MS })
    if (isLive(task.status)) throw new Error(`${id} did not end`)
  }
}
