import { describe, expect, test } from "vitest"
import { createRandom, isLong, TEST_SEED } from "../support/chaos/seed.ts"
import { type ChildWorker, startChildWorker } from "../support/child-worker.ts"
import { eventually } from "../support/eventually.ts"
import { createHoldingTools } from "../support/holding-tools.ts"
import { createFolder, openIn } from "../support/workplace.ts"

const background = { leaseSeconds: 0.5, maxConcurrentTasks: 1 }
const LINES = 120
const ROUNDS = isLong ? 25 : 1

/** The lines that a process prints when it counts so far. */
const toLines = (pid: number, last: number): string =>
  Array.from({ length: last }, (_, index) => `${pid} ${index + 1}\n`).join("")

/** Counts in a worker of its own until that stands still or is dead; then this process takes the task over. */
async function takeOver(lose: (worker: ChildWorker) => Promise<void>, afterBytes: number) {
  const directory = createFolder()
  const worker = await startChildWorker(directory, background)
  const [id = ""] = await worker.start([{ tool: "count", input: { to: LINES, everyMs: 10 } }])
  const looking = await openIn(directory, { takesWork: false })
  await eventually("it counts", async () => (await looking.tasks.output(id)).totalBytes >= afterBytes)
  await lose(worker)
  const { tasks } = await openIn(directory, { background, tools: createHoldingTools(directory) })
  await eventually("this process counts", async () => (await tasks.output(id)).restartedAt !== null)
  return { worker, id, tasks, looking }
}

/** The first execution is a beginning of what its process printed, and the second one is whole. */
async function requireRight({ worker, id, looking }: Awaited<ReturnType<typeof takeOver>>, afterBytes: number) {
  const { task } = await looking.tasks.result(id, { waitMs: 30_000 })
  expect(task).toMatchObject({ status: "completed", fence: 2 })
  const limitBytes = 100_000
  const first = await looking.tasks.output(id, { offset: 0, limitBytes })
  expect(first.nextOffset).toBeGreaterThanOrEqual(afterBytes)
  expect(first.text).toBe(toLines(worker.pid, LINES).slice(0, first.nextOffset))
  expect(first.isComplete).toBe(false)
  const second = await looking.tasks.output(id, { offset: first.nextOffset, limitBytes })
  expect(second).toMatchObject({ restartedAt: first.nextOffset, isComplete: true })
  expect(second.text).toBe(toLines(process.pid, LINES))
}

describe("H3. A run taken over prints into its own stream: nothing of the former holder is repeated, nothing of the new one is lost, and complete means complete", () => {
  const random = createRandom(TEST_SEED)
  const moments = Array.from({ length: ROUNDS }, () => random.integer(1, 600))

  test.each(moments)("when its worker is killed after it has printed %i bytes", async (afterBytes) => {
    await requireRight(await takeOver((worker) => worker.kill(), afterBytes), afterBytes)
  })

  test.each(moments)(
    "when its worker stood still after %i bytes, and goes on printing when it wakes",
    async (afterBytes) => {
      const taken = await takeOver((worker) => worker.suspend(), afterBytes)
      taken.worker.continue()
      await requireRight(taken, afterBytes)
      await taken.worker.close()
      await requireRight(taken, afterBytes)
    },
  )
})
