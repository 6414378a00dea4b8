import { readdirSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { describe, expect, test } from "vitest"
import { createManualClock } from "../../src/base/manual-clock.ts"
import type { TaskId } from "../../src/task/id.ts"
import { isTerminal } from "../../src/task/lifecycle.ts"
import { createRandom, isLong, TEST_SEED } from "../support/chaos/seed.ts"
import { startChildWorker } from "../support/child-worker.ts"
import { eventually } from "../support/eventually.ts"
import { processesOf } from "../support/processes.ts"
import { createFolder, openIn } from "../support/workplace.ts"

const THRESHOLD_MS = 200
const background = { leaseSeconds: 0.5, thresholdSeconds: THRESHOLD_MS / 1_000, completedTaskRetentionSeconds: 3_600 }
const LITTLE_MS = 50
const random = createRandom(TEST_SEED)
/** How long after the call the process is killed: around the moment in which the call moves to the background. */
const MOMENTS = Array.from({ length: isLong ? 40 : 2 }, (_, round) =>
  round === 0 ? 0 : random.integer(THRESHOLD_MS - 20, THRESHOLD_MS + 60),
)

describe("H7. The files of a run that ended are gone when the guide says so, whoever ended it", () => {
  test.each(MOMENTS)(
    "when its process is killed %i ms after a command began, and another process is open",
    async (afterMs) => {
      const directory = createFolder()
      const spool = join(directory, "data", "spool")
      const clock = createManualClock()
      const { tasks, engine } = await openIn(directory, { clock, background })
      const worker = await startChildWorker(directory, background)
      const input = { command: "echo begun; sleep 0.5; echo over" }
      const id = (await worker.execute({ tool: "run_command", input })) as TaskId
      await eventually("it has begun", () => processesOf(id).length > 0)
      await pause(afterMs)
      await worker.kill()
      expect(readdirSync(spool)).toEqual([id])

      const isOver = async (): Promise<boolean> => {
        const task = await engine.store.task(id)
        // A worker counts no silence of others from a time when it stood still itself.
        clock.advance(task ? LITTLE_MS : 100 * LITTLE_MS)
        return task ? isTerminal(task.status) : readdirSync(spool).length === 0
      }
      await eventually("the task has ended, or the call is cleared away", isOver)
      if (await engine.store.task(id)) {
        await tasks.acknowledge([id])
        clock.jump(3_600_000)
        await eventually("its time is over", () => {
          clock.advance(100 * LITTLE_MS)
          return readdirSync(spool).length === 0
        })
      }
      expect(processesOf(id)).toEqual([])
    },
  )
})
