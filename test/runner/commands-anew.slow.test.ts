import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { startChildWorker } from "../support/child-worker.ts"
import { eventually } from "../support/eventually.ts"
import { createHoldingTools } from "../support/holding-tools.ts"
import { createFolder, openIn } from "../support/workplace.ts"

const background = { leaseSeconds: 0.5, stopGraceSeconds: 0.2 }

const readLines = (path: string): readonly string[] =>
  existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : []

test.for([
  { when: "before its first command", until: "may-begin", ran: [], all: ["one", "two"] },
  { when: "during its first command", until: "data", ran: ["one"], all: ["one", "one", "two"] },
])(
  "a tool that may be called again runs all its commands after its worker was killed $when",
  async ({ until, ran, all }) => {
    const directory = createFolder()
    const worker = await startChildWorker(directory, background)
    const [id = ""] = await worker.start([{ tool: "commands", input: { until } }])
    await eventually("it was called", () => readLines(join(directory, "called")).length === 1)
    await eventually("it is there", () => readLines(join(directory, "ran")).length === ran.length)
    await worker.kill()
    for (const name of ["may-begin", "go"]) writeFileSync(join(directory, name), "")
    const next = await openIn(directory, { background, tools: createHoldingTools(directory) })
    const { task } = await next.tasks.result(id, { waitMs: 30_000 })
    expect(task).toMatchObject({ status: "completed", run: 1, fence: 2, patch: { payload: [0, 0] } })
    expect(readLines(join(directory, "ran"))).toEqual(all)
    expect(readLines(join(directory, "called"))).toHaveLength(2)
  },
)
