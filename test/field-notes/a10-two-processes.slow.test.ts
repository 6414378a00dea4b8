import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { startChildWorker } from "../support/child-worker.ts"
import { eventually } from "../support/eventually.ts"
import { createHoldingTools, effectsIn } from "../support/holding-tools.ts"
import { createFolder, openIn } from "../support/workplace.ts"

test("A10. Two Meanwhile processes on one store do not run a task twice", async () => {
  const directory = createFolder()
  const background = { maxConcurrentTasks: 4, maxConcurrentPerPlugin: 4 }
  const [first, second] = await Promise.all([
    startChildWorker(directory, background),
    startChildWorker(directory, background),
  ])
  const names = Array.from({ length: 120 }, (_, index) => `task ${index}`)
  const toCall = (name: string) => ({ tool: "hold_retry", input: { name, until: "go" } })
  const [someIds, otherIds] = await Promise.all([
    first.start(names.slice(0, 60).map(toCall)),
    second.start(names.slice(60).map(toCall)),
  ])
  await eventually("both are full", () => effectsIn(directory).length === 8)
  writeFileSync(join(directory, "go"), "")
  const { tasks } = await openIn(directory, { background, tools: createHoldingTools(directory) })
  const ended = await Promise.all([...someIds, ...otherIds].map((id) => tasks.result(id, { waitMs: 30_000 })))
  expect(ended.map(({ task }) => [task.status, task.run, task.fence])).toEqual(names.map(() => ["completed", 1, 1]))
  const effects = effectsIn(directory)
  for (const verb of ["began", "acted"]) {
    const done = effects.map(({ what }) => what).filter((what) => what.startsWith(verb))
    expect(done.toSorted()).toEqual(names.map((name) => `${verb} ${name}`).toSorted())
  }
  expect(new Set(effects.map(({ pid }) => pid)).size).toBeGreaterThanOrEqual(2)
})

test("A10. Two Meanwhile processes on one store do not run a task twice, when one is asked to stop what the other runs", async () => {
  const directory = createFolder()
  const worker = await startChildWorker(directory)
  const [id = ""] = await worker.start([{ tool: "hold", input: { name: "held", until: "never" } }])
  await eventually("it has begun", () => effectsIn(directory).length === 1)
  const { tasks } = await openIn(directory, { tools: createHoldingTools(directory) })
  expect(await tasks.cancel(id)).toMatchObject({ status: "stopping" })
  const { task } = await tasks.result(id, { waitMs: 20_000 })
  expect(task).toMatchObject({ status: "cancelled", run: 1, stop: { by: "person" }, survivors: [] })
  expect(effectsIn(directory)).toHaveLength(1)
})
