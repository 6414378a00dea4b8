import { describe, expect, test } from "vitest"
import { startChildWorker } from "../support/child-worker.ts"
import { eventually } from "../support/eventually.ts"
import { processesOf } from "../support/processes.ts"
import { createFolder, openIn } from "../support/workplace.ts"

/** Longer than a test waits: a command that the stop missed would live on until then. */
const background = { stopGraceSeconds: 120 }
const CALL = { tool: "run_command", input: { command: "sleep 1000" } } as const

describe.for(["stops_at_folder", "stops_at_spawn"] as const)(
  "a stop by another process, while the worker that %s stands there,",
  (habit) => {
    test("reaches the command", async () => {
      const directory = createFolder()
      const desk = await openIn(directory, { background, takesWork: false })
      const worker = await startChildWorker(directory, background, habit)
      // The worker answers once it goes on.
      const started = worker.start([CALL])
      await eventually("it stands still", () => worker.isSuspended())
      const [task] = (await desk.engine.store.tasks({}, { limit: 10 })).items
      const id = task?.id ?? ""
      expect((await desk.tasks.cancel(id)).status).toBe("stopping")
      worker.continue()
      await started
      const ended = await desk.tasks.result(id, { waitMs: 30_000 })
      expect(ended.task).toMatchObject({ status: "cancelled", run: 1, fence: 1, survivors: [] })
      expect(processesOf(id)).toEqual([])
      await worker.close()
    })
  },
)
