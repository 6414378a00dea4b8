import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { startChildWorker } from "../support/child-worker.ts"
import { eventually } from "../support/eventually.ts"
import { effectsIn } from "../support/holding-tools.ts"
import { processesOf } from "../support/processes.ts"
import { createFolder, openIn } from "../support/workplace.ts"

describe("A4. Who or what ended a task is on its record: person, model, deadline, budget, limit, shutdown, lost worker", () => {
  test("a lost worker", async () => {
    const directory = createFolder()
    const worker = await startChildWorker(directory)
    const [id = ""] = await worker.start([{ tool: "hold", input: { name: "held", until: "never" } }])
    await eventually("it has begun", () => effectsIn(directory).length === 1)
    await worker.kill()
    const { tasks } = await openIn(directory)
    const { task } = await tasks.result(id, { waitMs: 20_000 })
    expect(task).toMatchObject({ status: "interrupted", by: "lost_worker", failure: { code: "worker_lost" } })
  })

  test("a limit: output past its cap while nobody was there to cut it", async () => {
    const directory = createFolder()
    const worker = await startChildWorker(directory)
    // The worker suspends a printing command to cut its output: killed then, it would leave the command suspended.
    const gone = join(directory, "gone")
    const command = `until [ -e ${gone} ]; do sleep 0.01; done; while :; do head -c 20000 /dev/zero; sleep 0.01; done`
    const call = { tool: "run_command", input: { command }, outputLimitBytes: 50_000, lifetime: "forever" as const }
    const [id = ""] = await worker.start([call])
    await eventually("it runs", () => processesOf(id).length > 0)
    await worker.kill()
    writeFileSync(gone, "")
    await eventually("it is stopped", () => processesOf(id).length === 0)
    const { tasks } = await openIn(directory)
    const { task } = await tasks.result(id, { waitMs: 20_000 })
    expect(task).toMatchObject({ status: "cancelled", stop: { by: "limit" } })
  })
})
