import { expect, test } from "vitest"
import type { TaskRecord } from "../../src/task/record.ts"
import { eventually } from "../support/eventually.ts"
import { createGatedTool } from "../support/tools.ts"
import { createWorkplace } from "../support/workplace.ts"

/** Every number of a record, by its path. All of them are kept in columns that take only whole numbers. */
function numbersOf(value: unknown, path = "task"): [string, number][] {
  if (typeof value === "number") return [[path, value]]
  if (typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([key, part]) => numbersOf(part, `${path}.${key}`))
}

function fractionsOf(task: TaskRecord): [string, number][] {
  return numbersOf(task).filter(([, number]) => !Number.isSafeInteger(number))
}

test("limits, delays and what is spent become whole numbers in the record, and no limit becomes 0", async () => {
  const gated = createGatedTool({ obeys: true })
  const { meanwhile } = await createWorkplace({ tools: [gated.tool] })
  const { tasks } = meanwhile
  const limits = { timeoutMs: 60_000.5, tokenLimit: 0.5, costLimitMicros: 10.1, outputLimitBytes: 4_096.5 }
  const delayed = await tasks.start({ tool: "gated", input: {}, delayMs: 100_000.5, ...limits })
  expect(fractionsOf(delayed)).toEqual([])
  expect(delayed.limits).toEqual({ timeoutMs: 60_001, tokens: 1, costMicros: 11, outputBytes: 4_097 })
  const { id } = await tasks.start({ tool: "gated", input: {} })
  const { context, finish } = await gated.call(1)
  context.spend({ costMicros: 1.5 })
  finish()
  const { task } = await tasks.result(id, { waitMs: 30_000, consume: true })
  expect(task.usage.costMicros).toBe(2)
  expect(fractionsOf(task)).toEqual([])
  expect(await tasks.cleanupCompleted(0.5)).toBeLessThanOrEqual(1)
})

test("a promotion, an answer and a hand-back measure in whole milliseconds", async () => {
  const gated = createGatedTool({ kind: "agent", background: { mode: "after", ms: 3 }, obeys: true })
  const { meanwhile, another } = await createWorkplace({ tools: [gated.tool] })
  const answer = await meanwhile.tasks.execute({ tool: "gated", input: {} }).answer
  if (answer.outcome !== "promoted") throw new Error(`It is ${answer.outcome}.`)
  expect(answer.afterMs).toSatisfy(Number.isSafeInteger)
  expect(fractionsOf(answer.task)).toEqual([])
  const { id } = answer.task
  const [, , promoted] = await meanwhile.engine.store.events(id, 0, 10)
  expect(promoted?.body).toEqual({ type: "task.promoted", afterMs: answer.afterMs })
  const keyed = await meanwhile.tasks.execute({ tool: "gated", input: {}, idempotencyKey: "k" }).answer
  expect(keyed.outcome === "promoted" && keyed.afterMs).toSatisfy(Number.isSafeInteger)

  const running = await eventually("a moment passes", async () => {
    const { task } = await meanwhile.tasks.get(id)
    return Date.now() > (task.startedAt ?? 0) + 5 && task
  })
  expect(running.status).toBe("running")
  const second = await another()
  await meanwhile.close()
  await gated.call(3)
  expect(fractionsOf((await second.tasks.get(id)).task)).toEqual([])
})
