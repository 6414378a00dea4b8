import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { startChildWorker } from "../support/child-worker.ts"
import { eventually } from "../support/eventually.ts"
import { processesOf } from "../support/processes.ts"
import { createFolder, openIn } from "../support/workplace.ts"

/** Ends at the first request, and leaves a process that does not. */
const COMMAND = `setsid sh -c 'trap "" TERM; echo ready; while :; do sleep 0.05; done' & wait`

test("the next start finishes a stop that a crash cut off, down to processes that outlived the command", async () => {
  const directory = createFolder()
  const worker = await startChildWorker(directory, { stopGraceSeconds: 600, leaseSeconds: 3 })
  const [id = ""] = await worker.start([{ tool: "run_command", input: { command: COMMAND } }])
  const next = await openIn(directory, { background: { stopGraceSeconds: 1, leaseSeconds: 3 } })
  await eventually("it is ready", async () => (await next.tasks.output(id)).text.includes("ready"))
  await next.tasks.cancel(id)
  const processFile = join(directory, "data", "spool", id, "1", "process-1")
  await eventually("the command has ended", () => readFileSync(processFile, "utf8").includes("exit 143"))
  await worker.kill()
  expect(processesOf(id).length).toBeGreaterThan(0)

  const { task } = await next.tasks.result(id, { waitMs: 60_000 })
  expect(processesOf(id)).toEqual([])
  expect(task).toMatchObject({ status: "cancelled", survivors: [] })
})
