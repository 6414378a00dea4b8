import { cpSync, renameSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { processesOf } from "../support/processes.ts"
import { createFolder, openIn } from "../support/workplace.ts"

const background = { leaseSeconds: 1 }

async function startIn(directory: string) {
  const meanwhile = await openIn(directory, { background })
  const { id } = await meanwhile.tasks.start({ tool: "run_command", input: { command: "sleep 1000" } })
  await eventually("its command runs", () => processesOf(id).length > 0)
  return { meanwhile, id }
}

test("a stop in a copy of a data folder leaves the processes of the original alone", async () => {
  const [original, copy] = [createFolder(), createFolder()]
  const { meanwhile, id } = await startIn(original)
  cpSync(join(original, "data"), join(copy, "data"), { recursive: true })
  const other = await openIn(copy, { background })
  await other.tasks.cancel(id)
  expect((await other.tasks.result(id, { waitMs: 30_000 })).task.status).toBe("cancelled")
  expect(processesOf(id)).not.toEqual([])
  expect((await meanwhile.tasks.get(id)).task.status).toBe("running")
})

test("a data folder that was moved keeps its processes", async () => {
  const [before, after] = [createFolder(), createFolder()]
  const { meanwhile, id } = await startIn(before)
  await meanwhile.close({ work: "keep" })
  renameSync(join(before, "data"), join(after, "data"))
  const other = await openIn(after, { background })
  await eventually("it is adopted", async () => (await other.tasks.get(id)).task.status === "running")
  await other.tasks.cancel(id)
  expect((await other.tasks.result(id, { waitMs: 30_000 })).task.status).toBe("cancelled")
  expect(processesOf(id)).toEqual([])
})
